// Convolution, its data gradient and its weight gradient as one matrix product whose left matrix is made while it is read.
//
// Positions (image number and window, or cell) and taps (channel and cell of a window) address images: place(position) + place(tap).
//   FORWARD   rows: windows     inner: taps      image x   other w   out y
//   DATA      rows: cells       inner: taps      image g   other w   out dx
//   WEIGHTS   rows: taps        inner: windows   image x   other g   out dw
// DATA: cells whose numbers leave the same remainder when divided by the stride are met by the same taps, so that these are a
// convolution of stride 1; blocks serve one such class each.
//
// Open: T, OUT (T, or the type of the arithmetic where parts are summed later), I (type of offsets), MODE, LAST (channels last),
// BM, BN (tile), TM, TN (of a thread, multiples of 4). lanes & 1, lanes & 2: neighbours read along the inner index (left, right).

#define FORWARD 0
#define DATA 1
#define WEIGHTS 2
#define BK 8
#define THREADS ((BM / TM) * (BN / TN))
#define STEP (THREADS / BK)

typedef work_of<T>::type Work;

// How places lie along an axis: `many` of them; place i is cell step * i + start of the image, out_step * i + out of the other array.
struct Line { int many, step, start, taps, tap_step, size, out, out_step, out_size, tap, tap_jump; };

__device__ __forceinline__ Line line_of(const Axis &a, const int remainder) {
#if MODE == DATA
    int tap, window;
    first_tap(a, remainder, tap, window);
    const int many = remainder < a.size ? (a.size - 1 - remainder) / a.stride + 1 : 0;
    const int taps = tap < a.kernel ? (a.kernel - 1 - tap) / a.jump + 1 : 0;
    return Line{many, 1, window, taps, -a.down, a.count, remainder, a.stride, a.size, tap, a.jump};
#else
    return Line{a.count, a.stride, -a.before, a.kernel, a.dilation, a.size, 0, 1, a.count, 0, 1};
#endif
}

struct Digits { int d[4]; };

__device__ __forceinline__ Digits digits_of(I n, const Digits &radix) {
    Digits found;
    for (int i = 0; i < 3; i++) {
        const I next = radix.d[i] ? n / radix.d[i] : 0;
        found.d[i] = (int)(n - next * radix.d[i]);
        n = next;
    }
    found.d[3] = (int)n;
    return found;
}

__device__ __forceinline__ void advance(Digits &n, const Digits &by, const Digits &radix) {
    int carry = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        n.d[i] += by.d[i] + carry;
        carry = n.d[i] >= radix.d[i];
        n.d[i] -= carry ? radix.d[i] : 0;
    }
    n.d[3] += by.d[3] + carry;
}

struct Place { I image, other; int z, y, x; };

extern "C" __global__ void __launch_bounds__(THREADS, sizeof(Work) == 4 ? 512 / THREADS : 1) convolution(
        const T *image, const T *other, OUT *out, const T *bias, const int has_bias, const int lanes, const int batch, const int channels,
        const int columns, const int weight_channel, const int weight_column, const int weight_tap, const int parts,
        const long long part_size, WINDOW) {
    TAKE_WINDOW;
    __shared__ __align__(16) Work left[2][BK][BM + 4];
    __shared__ __align__(16) Work right[2][BK][BN + 4];
    const int classes = MODE == DATA ? stride_z * stride_y * stride_x : 1;
    const int tiles = gridDim.x / classes, own = blockIdx.x / tiles;
    const Line Z = line_of(z, own / (stride_y * stride_x)), Y = line_of(y, own / stride_x % stride_y), X = line_of(x, own % stride_x);

    // Distances in the image, in the other array that has places, and in the weights.
    const I image_x = LAST ? channels : 1, image_y = image_x * X.size, image_z = image_y * Y.size, image_volume = image_z * Z.size;
    const I image_n = LAST ? image_volume : image_volume * channels, image_c = LAST ? 1 : image_volume;
    const I other_x = LAST ? columns : 1, other_y = other_x * X.out_size, other_z = other_y * Y.out_size, volume = other_z * Z.out_size;
    const I other_n = LAST ? volume : volume * columns, other_c = LAST ? 1 : volume;
    const I places = (I)Z.many * Y.many * X.many * batch, taps = (I)Z.taps * Y.taps * X.taps * channels;
    const Digits of_places = {{X.many, Y.many, Z.many, batch}};
    const Digits of_taps = LAST ? Digits{{channels, X.taps, Y.taps, Z.taps}} : Digits{{X.taps, Y.taps, Z.taps, channels}};

    auto place = [&](const Digits &n) {
        const int a = n.d[0], b = n.d[1], c = n.d[2];
        const int px = X.step * a + X.start, py = Y.step * b + Y.start, pz = Z.step * c + Z.start;
        return Place{n.d[3] * image_n + pz * image_z + py * image_y + px * image_x,
                     n.d[3] * other_n + (Z.out + Z.out_step * c) * other_z + (Y.out + Y.out_step * b) * other_y
                     + (X.out + X.out_step * a) * other_x, pz, py, px};
    };
    auto tap = [&](const Digits &n) {
        const int channel = n.d[LAST ? 0 : 3], a = n.d[LAST ? 1 : 0], b = n.d[LAST ? 2 : 1], c = n.d[LAST ? 3 : 2];
        const int px = X.tap_step * a, py = Y.tap_step * b, pz = Z.tap_step * c;
        const I cell = ((I)(Z.tap + Z.tap_jump * c) * kernel_y + Y.tap + Y.tap_jump * b) * kernel_x + X.tap + X.tap_jump * a;
        return Place{channel * image_c + pz * image_z + py * image_y + px * image_x, channel * (I)weight_channel + cell * weight_tap,
                     pz, py, px};
    };
#if MODE == WEIGHTS
    const I rows = taps, inner = places, column_step = other_c, out_column = weight_column;
    const Digits of_rows = of_taps, of_inner = of_places;
#define AT_ROW tap
#define AT_INNER place
#else
    const I rows = places, inner = taps, column_step = weight_column, out_column = other_c;
    const Digits of_rows = of_places, of_inner = of_taps;
#define AT_ROW place
#define AT_INNER tap
#endif
    const I row0 = (I)(blockIdx.x % tiles) * BM;
    const int column0 = blockIdx.y * BN, thread = threadIdx.x;
    if (row0 >= rows) return;
    const I share = (inner + (I)parts * BK - 1) / ((I)parts * BK) * BK, begin = share * blockIdx.z;
    const I end = begin + share < inner ? begin + share : inner;

    // What this thread copies: for one inner index of a tile, every STEP-th row, and for one every STEP-th column.
    const int left_k = lanes & 1 ? thread % BK : thread / STEP, left_row = lanes & 1 ? thread / BK : thread % STEP;
    const int right_k = lanes & 2 ? thread % BK : thread / STEP, right_column = lanes & 2 ? thread / BK : thread % STEP;
    Place at[BM / STEP];
    Digits row_n = digits_of(row0 + left_row, of_rows);
    const Digits row_by = digits_of(STEP, of_rows);
#pragma unroll
    for (int i = 0; i < BM / STEP; i++) {
        at[i] = AT_ROW(row_n);
        if (row0 + left_row + i * STEP >= rows) at[i].z = -(1 << 30);       // outside whatever is added
        advance(row_n, row_by, of_rows);
    }
    Digits left_n = digits_of(begin + left_k, of_inner), right_n = digits_of(begin + right_k, of_inner);
    const Digits by = digits_of(BK, of_inner);
    Work left_next[BM / STEP], right_next[BN / STEP];

    auto fetch = [&](const I k) {
        const Place l = AT_INNER(left_n), r = AT_INNER(right_n);
        const bool has_left = k + left_k < end, has_right = k + right_k < end;
#pragma unroll
        for (int i = 0; i < BM / STEP; i++) {
            const bool cell = has_left && (unsigned)(at[i].z + l.z) < (unsigned)Z.size && (unsigned)(at[i].y + l.y) < (unsigned)Y.size
                && (unsigned)(at[i].x + l.x) < (unsigned)X.size;
            left_next[i] = cell ? load(image[at[i].image + l.image]) : (Work)0;
        }
#pragma unroll
        for (int i = 0; i < BN / STEP; i++) {
            const int column = column0 + right_column + i * STEP;
            right_next[i] = has_right && column < columns ? load(other[r.other + column * column_step]) : (Work)0;
        }
        advance(left_n, by, of_inner);
        advance(right_n, by, of_inner);
    };
    auto put = [&](const int half) {
#pragma unroll
        for (int i = 0; i < BM / STEP; i++) left[half][left_k][left_row + i * STEP] = left_next[i];
#pragma unroll
        for (int i = 0; i < BN / STEP; i++) right[half][right_k][right_column + i * STEP] = right_next[i];
    };

    // Neighbouring lanes work on what lies side by side in the result.
    const int of_row = (LAST ? thread / (BN / TN) : thread % (BM / TM)) * 4;
    const int of_column = (LAST ? thread % (BN / TN) : thread / (BM / TM)) * 4;
    Work sums[TM][TN] = {};
    int half = 0;
    if (begin < end) {
        fetch(begin);
        put(0);
    }
    __syncthreads();
    for (I k = begin; k < end; k += BK, half ^= 1) {
        const bool more = k + BK < end;
        if (more) fetch(k + BK);
#pragma unroll
        for (int n = 0; n < BK; n++) {
            Work a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; i++) a[i] = left[half][n][i / 4 * (BM / TM * 4) + of_row + i % 4];
#pragma unroll
            for (int j = 0; j < TN; j++) b[j] = right[half][n][j / 4 * (BN / TN * 4) + of_column + j % 4];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) sums[i][j] += a[i] * b[j];
        }
        if (more) put(half ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++) {
        const I row = row0 + i / 4 * (BM / TM * 4) + of_row + i % 4;
        if (i % 4) advance(row_n, Digits{{1, 0, 0, 0}}, of_rows);
        else row_n = digits_of(row, of_rows);
        if (row >= rows) continue;
        OUT *line = out + blockIdx.z * part_size + AT_ROW(row_n).other;
#pragma unroll
        for (int j = 0; j < TN; j++) {
            const int column = column0 + j / 4 * (BN / TN * 4) + of_column + j % 4;
            if (column < columns) store(line[column * out_column], sums[i][j] + (has_bias ? load(bias[column]) : (Work)0));
        }
    }
}
