// Joining the values of threads.

struct sum_of { template <typename T> static __device__ __forceinline__ T of(T a, T b) { return (T)(a + b); } };
struct prod_of { template <typename T> static __device__ __forceinline__ T of(T a, T b) { return (T)(a * b); } };
struct max_of { template <typename T> static __device__ __forceinline__ T of(T a, T b) { return vmax(a, b); } };
struct min_of { template <typename T> static __device__ __forceinline__ T of(T a, T b) { return vmin(a, b); } };

// Shuffles know numbers of 32 and 64 bits.
template <typename T> struct lane_type { typedef T type; };
template <> struct lane_type<bool> { typedef int type; };
template <> struct lane_type<signed char> { typedef int type; };
template <> struct lane_type<short> { typedef int type; };
template <> struct lane_type<unsigned char> { typedef int type; };
template <> struct lane_type<unsigned short> { typedef int type; };

// Over groups of neighbouring lanes, a power of two of them; all lanes of the group get the result.
template <typename F, typename T> __device__ __forceinline__ T over_lanes(T v, int lanes) {
    for (int k = lanes >> 1; k > 0; k >>= 1) v = F::of(v, (T)__shfl_xor_sync(0xffffffffu, (typename lane_type<T>::type)v, k));
    return v;
}

// Over all threads of a block of whole warps; room is shared memory for 32 values.
template <typename F, typename T> __device__ __forceinline__ T over_block(T v, T *room) {
    v = over_lanes<F>(v, 32);
    __syncthreads();            // the values of the last time were read
    if ((threadIdx.x & 31) == 0) room[threadIdx.x >> 5] = v;
    __syncthreads();
    v = room[0];
    for (int w = 1; w < blockDim.x >> 5; ++w) v = F::of(v, room[w]);
    return v;
}
