// What several blocks have summed, put together in order, and biases. `run`: how many cells in a row share a channel.

typedef work_of<T>::type Work;

#define EACH(i, size) (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x)

extern "C" __global__ void sum_parts(const Work *from, T *out, const T *bias, const int has_bias, const int parts, const long long size,
                                     const int run, const int channels) {
    for EACH(i, size) {
        Work sum = has_bias ? load(bias[i / run % channels]) : (Work)0;
        for (int k = 0; k < parts; k++) sum += from[k * size + i];
        store(out[i], sum);
    }
}

extern "C" __global__ void spread_bias(const T *bias, T *out, const long long size, const int run, const int channels) {
    for EACH(i, size) out[i] = bias[i / run % channels];
}
