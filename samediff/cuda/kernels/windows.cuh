// Windows over three spatial axes. Along each, window o covers the cells o * stride - before + tap * dilation.
// A window that has a cell as tap k has the next such cell as tap k + jump, and so has the window `down` before it.

struct Axis { int kernel, stride, before, dilation, size, count, jump, down; };

#define AXIS(a) const int kernel_##a, const int stride_##a, const int before_##a, const int dilation_##a, const int size_##a, \
    const int count_##a, const int jump_##a, const int down_##a
#define WINDOW AXIS(z), AXIS(y), AXIS(x)
#define TAKE_AXIS(a) const Axis a = {kernel_##a, stride_##a, before_##a, dilation_##a, size_##a, count_##a, jump_##a, down_##a}
#define TAKE_WINDOW TAKE_AXIS(z); TAKE_AXIS(y); TAKE_AXIS(x)

// The first tap that is `cell` in some window, and the number of that window, which may be none of those that there are;
// tap == kernel where there is none.
__device__ __forceinline__ void first_tap(const Axis &a, const int cell, int &tap, int &window) {
    int from = cell + a.before;
    tap = 0;
    if (a.stride == 1) {
        window = from;
        return;
    }
    while (tap < a.kernel && from % a.stride != 0) {
        tap = tap + 1 < a.jump ? tap + 1 : a.kernel;
        from -= a.dilation;
    }
    window = from / a.stride;
}

// The same among the windows that there are. All others follow by `tap += jump, window -= down` until tap >= kernel or window < 0.
__device__ __forceinline__ void first_meeting(const Axis &a, const int cell, int &tap, int &window) {
    first_tap(a, cell, tap, window);
    if (window >= a.count) {
        const int skipped = (window - a.count) / a.down + 1;
        tap = skipped < (a.kernel - tap + a.jump - 1) / a.jump ? tap + skipped * a.jump : a.kernel;
        window -= skipped * a.down;
    }
}

// Taps low <= tap < high of a window are inside; its first cell is `start`.
__device__ __forceinline__ void inside(const Axis &a, const int window, int &start, int &low, int &high) {
    start = window * a.stride - a.before;
    const int missing = start < 0 ? -start : 0, left = start < a.size ? a.size - start : 0;
    low = a.dilation == 1 ? missing : (missing + a.dilation - 1) / a.dilation;
    high = a.dilation == 1 ? left : (left + a.dilation - 1) / a.dilation;
    high = high < a.kernel ? high : a.kernel;
}
