// Sums over rows, in `gridDim.y` shares: y[share, c] = sum of x[r, c] for the rows of the share. Blocks of 32 x 8 threads.
// Open: X, Y (types of both arrays).

extern "C" __global__ void column_sums(const X *__restrict__ x, Y *__restrict__ y, const int rows, const int columns) {
    typedef typename work_of<X>::type W;
    __shared__ W sums[8][32];
    const int c = blockIdx.x * 32 + threadIdx.x;
    W sum = 0;
    if (c < columns)
        for (long long r = blockIdx.y * 8 + threadIdx.y; r < rows; r += gridDim.y * 8) sum += load(x[r * columns + c]);
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < columns) {
        for (int k = 1; k < 8; k++) sum += sums[k][threadIdx.x];
        store(y[(long long)blockIdx.y * columns + c], sum);
    }
}
