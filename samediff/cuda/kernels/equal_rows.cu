// Indices that are equal to others. Open: T, X (of the indices), LAST (0 or 1).

// y[k, c] = how many indices equal index[k]; LAST: 1 where no later one does, else 0
extern "C" __global__ void equal_rows(const X *__restrict__ index, T *__restrict__ y, const int count, const long long inner) {
    for (int k = blockIdx.x * blockDim.y + threadIdx.y; k < count; k += gridDim.x * blockDim.y) {
        const X mine = index[k];
        int found = 0;
        for (int j = LAST ? k + 1 : 0; j < count && !(LAST && found); j++) found += index[j] == mine;
        for (long long c = threadIdx.x; c < inner; c += blockDim.x) store(y[k * inner + c], LAST ? found == 0 : found);
    }
}
