// Patches of images with two axes. Columns have the axes n (image), c (channel), y, x (place in the window), h, w (window) in some
// order: AT_N ... AT_W are their places. LAST: channels of images are last. Open: T, I (type of offsets). ADD: fold too, for numbers.

typedef work_of<T>::type Work;

#define EACH(i, size) (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x)
#define SIZES const int s0, const int s1, const int s2, const int s3, const int s4, const int s5
#define TAKE_SIZES const int sizes[6] = {s0, s1, s2, s3, s4, s5}

extern "C" __global__ void unfold(const T *image, T *columns, const long long size, SIZES, WINDOW) {
    TAKE_WINDOW;
    TAKE_SIZES;
    const int channels = sizes[AT_C];
    for EACH(i, size) {
        int d[6];
        I rest = i;
#pragma unroll
        for (int k = 5; k > 0; k--) {
            const I next = rest / sizes[k];
            d[k] = (int)(rest - next * sizes[k]);
            rest = next;
        }
        d[0] = (int)rest;
        const int row = d[AT_H] * y.stride - y.before + d[AT_Y] * y.dilation, column = d[AT_W] * x.stride - x.before + d[AT_X] * x.dilation;
        const I n = d[AT_N], c = d[AT_C];
        if ((unsigned)row < (unsigned)y.size && (unsigned)column < (unsigned)x.size)
            columns[i] = image[LAST ? ((n * y.size + row) * x.size + column) * channels + c
                                    : ((n * channels + c) * y.size + row) * x.size + column];
        else columns[i] = {};
    }
}

#ifdef ADD
extern "C" __global__ void fold(const T *columns, T *image, const long long size, SIZES, WINDOW) {
    TAKE_WINDOW;
    TAKE_SIZES;
    const int channels = sizes[AT_C];
    I apart[6];
    apart[5] = 1;
#pragma unroll
    for (int k = 4; k >= 0; k--) apart[k] = apart[k + 1] * sizes[k + 1];
    for EACH(i, size) {
        I rest = i, next;
        int c = 0;
        if (LAST) next = rest / channels, c = (int)(rest - next * channels), rest = next;
        next = rest / x.size;
        const int column = (int)(rest - next * x.size);
        rest = next, next = rest / y.size;
        const int row = (int)(rest - next * y.size);
        rest = next;
        if (!LAST) next = rest / channels, c = (int)(rest - next * channels), rest = next;
        const T *from = columns + rest * apart[AT_N] + c * apart[AT_C];
        int ty, tx, wy, wx;
        first_meeting(y, row, ty, wy);
        first_meeting(x, column, tx, wx);
        Work sum = 0;
        for (int ky = ty, oy = wy; ky < y.kernel && oy >= 0; ky += y.jump, oy -= y.down)
            for (int kx = tx, ox = wx; kx < x.kernel && ox >= 0; kx += x.jump, ox -= x.down)
                sum += load(from[ky * apart[AT_Y] + kx * apart[AT_X] + oy * apart[AT_H] + ox * apart[AT_W]]);
        store(image[i], sum);
    }
}
#endif
