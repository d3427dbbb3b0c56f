// y[i] = value

extern "C" __global__ void fill(T *y, const T value, const long long n) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        y[i] = value;
}
