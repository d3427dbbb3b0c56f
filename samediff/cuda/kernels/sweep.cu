// Threads that share a slice: as rows they are neighbours, as columns they stand one above the other, since neighbours in memory belong
// to different slices.

#if ROWS
#define ROOM 32
// The slice of a thread within its block, the thread within those of the slice, and how many slices a block has.
#define GROUP (threadIdx.x / lanes)
#define LANE (threadIdx.x % lanes)
#define GROUPS (blockDim.x / lanes)
template <typename F, typename T> __device__ __forceinline__ T over_slice(T v, int lanes, void *room) {
    return lanes <= 32 ? over_lanes<F>(v, lanes) : over_block<F>(v, (T *)room);
}
#else
#define ROOM 512
#define GROUP (threadIdx.x % (blockDim.x / lanes))
#define LANE (threadIdx.x / (blockDim.x / lanes))
#define GROUPS (blockDim.x / lanes)
template <typename F, typename T> __device__ __forceinline__ T over_slice(T v, int lanes, void *place) {
    if (lanes == 1) return v;
    T *room = (T *)place;
    const int width = blockDim.x / lanes, t = threadIdx.x;
    __syncthreads();            // the values of the last time were read
    room[t] = v;
    __syncthreads();
    for (int half = lanes >> 1; half > 0; half >>= 1) {
        if (t < half * width) room[t] = F::of(room[t], room[t + half * width]);
        __syncthreads();
    }
    return room[t % width];
}
#endif
