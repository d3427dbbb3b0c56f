// Cells of images (outer, z, y, x, inner) several times along each axis. Open: T, I (type of offsets).

extern "C" __global__ void repeat_cells(const T *from, T *out, const long long size, const int inner, const int nz, const int ny,
                                        const int nx, const int times_z, const int times_y, const int times_x) {
    for (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x) {
        const I row = i / inner, plane = row / (nx * times_x), volume = plane / (ny * times_y), outer = volume / (nz * times_z);
        const int x = (int)(row - plane * (nx * times_x)) / times_x, y = (int)(plane - volume * (ny * times_y)) / times_y;
        const int z = (int)(volume - outer * (nz * times_z)) / times_z;
        out[i] = from[(((outer * nz + z) * ny + y) * nx + x) * inner + i - row * inner];
    }
}
