// The words and functions of CUDA for a C++ compiler: what NVRTC has built in, and nothing else. Goes before the prelude.

#define __global__ __attribute__((used))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __constant__
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#ifdef __APPLE__
#define __shared__ static __attribute__((section("__DATA,emu_shared")))
#else
#define __shared__ static __attribute__((section("emu_shared")))
#endif

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

struct uint3 { unsigned int x, y, z; };
struct dim3 { unsigned int x, y, z; };

#define VECTORS(T, name)                                                                        \
    struct __align__(2 * sizeof(T)) name##2 { T x, y; };                                        \
    struct __align__(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };        \
    inline name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                           \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
VECTORS(float, float)
VECTORS(double, double)
VECTORS(int, int)
VECTORS(unsigned int, uint)
VECTORS(long long, longlong)
VECTORS(unsigned short, ushort)
VECTORS(unsigned char, uchar)
#undef VECTORS

extern "C" {
int printf(const char *, ...);
int snprintf(char *, size_t, const char *, ...);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
int abs(int);
long long llabs(long long);
}

// Functions of the C library: under their own names, and for float under the name for double.
#define ONE(name)                                                                               \
    extern "C" double name(double); extern "C" float name##f(float); inline float name(float x) { return name##f(x); }
#define TWO(name)                                                                               \
    extern "C" double name(double, double); extern "C" float name##f(float, float);             \
    inline float name(float x, float y) { return name##f(x, y); }                               \
    inline double name(float x, double y) { return name((double)x, y); }                        \
    inline double name(double x, float y) { return name(x, (double)y); }
ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(logb) ONE(sqrt) ONE(cbrt)
ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh)
ONE(erf) ONE(erfc) ONE(lgamma) ONE(tgamma) ONE(ceil) ONE(floor) ONE(trunc) ONE(round) ONE(rint) ONE(nearbyint) ONE(fabs)
ONE(j0) ONE(j1) ONE(y0) ONE(y1)
TWO(fmod) TWO(remainder) TWO(atan2) TWO(hypot) TWO(fdim) TWO(fmax) TWO(fmin) TWO(copysign) TWO(nextafter) TWO(pow)
#undef ONE
#undef TWO
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
extern "C" double frexp(double, int *);
extern "C" float frexpf(float, int *);
extern "C" double modf(double, double *);
extern "C" float modff(float, float *);
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float ldexp(float x, int n) { return ldexpf(x, n); }
inline float frexp(float x, int *n) { return frexpf(x, n); }
inline float modf(float x, float *n) { return modff(x, n); }
inline float scalbnf(float x, int n) { return ldexpf(x, n); }
inline double scalbn(double x, int n) { return ldexp(x, n); }
inline float pow(float x, int n) { return powf(x, (float)n); }
inline double pow(double x, int n) { return pow(x, (double)n); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }

inline bool isnan(float x) { return x != x; }
inline bool isnan(double x) { return x != x; }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

#define LEAST(T)                                                                                \
    inline T max(T a, T b) { return a > b ? a : b; }                                            \
    inline T min(T a, T b) { return a < b ? a : b; }
LEAST(int) LEAST(unsigned int) LEAST(long) LEAST(unsigned long) LEAST(long long) LEAST(unsigned long long)
#undef LEAST
inline float max(float a, float b) { return fmaxf(a, b); }
inline float min(float a, float b) { return fminf(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }

// Functions that only CUDA has.
#define PI_ 3.14159265358979323846
#define BOTH(name, value)                                                                       \
    inline double name(double x) { return value; }                                              \
    inline float name##f(float x_) { double x = x_; return (float)(value); }                    \
    inline float name(float x) { return name##f(x); }
BOTH(rsqrt, 1.0 / sqrt(x))
BOTH(rcbrt, 1.0 / cbrt(x))
BOTH(exp10, pow(10.0, x))
BOTH(sinpi, sin(PI_ * fmod(x, 2.0)))
BOTH(cospi, cos(PI_ * fmod(x, 2.0)))
BOTH(normcdf, 0.5 * erfc(-x * 0.70710678118654752440))
BOTH(erfcx, exp(x * x) * erfc(x))
inline double emu_erfinv(double y) {            // Newton's method from a rough start
    if (!(y > -1.0 && y < 1.0)) return y == 1.0 ? __builtin_inf() : y == -1.0 ? -__builtin_inf() : __builtin_nan("");
    double w = log((1.0 - y) * (1.0 + y)), t = 2.0 / (PI_ * 0.147) + 0.5 * w;
    double x = copysign(sqrt(sqrt(t * t - w / 0.147) - t), y);
    for (int i = 0; i < 4; i++) {
        double e = fabs(y) < 0.5 ? erf(x) - y : y > 0 ? (1.0 - y) - erfc(x) : erfc(-x) - (1.0 + y);
        e /= 1.12837916709551257390 * exp(-x * x);
        x -= e / (1.0 + x * e);
    }
    return x;
}
BOTH(erfinv, emu_erfinv(x))
BOTH(erfcinv, emu_erfinv(1.0 - x))
BOTH(normcdfinv, 1.41421356237309504880 * emu_erfinv(2.0 * x - 1.0))
inline double emu_i(double x, int order) {      // the power series
    double term = order ? 0.5 * x : 1.0, sum = term;
    for (int k = 1; k < 500 && fabs(term) > 1e-18 * fabs(sum); k++) sum += term *= 0.25 * x * x / (k * (double)(k + order));
    return sum;
}
BOTH(cyl_bessel_i0, emu_i(x, 0))
BOTH(cyl_bessel_i1, emu_i(x, 1))
#undef BOTH
inline void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
inline void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
inline void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }

// Bits.
template <typename To, typename From> inline To emu_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "sizes");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}
inline unsigned int __float_as_uint(float x) { return emu_bits<unsigned int>(x); }
inline int __float_as_int(float x) { return emu_bits<int>(x); }
inline float __uint_as_float(unsigned int x) { return emu_bits<float>(x); }
inline float __int_as_float(int x) { return emu_bits<float>(x); }
inline long long __double_as_longlong(double x) { return emu_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return emu_bits<double>(x); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned int)((unsigned long long)x * y >> 32); }
inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) {
    unsigned int y = 0;
    for (int i = 0; i < 32; i++) y |= (x >> i & 1) << (31 - i);
    return y;
}
inline unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int n) {
    return (unsigned int)((((unsigned long long)hi << 32 | lo) << (n & 31)) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int n) {
    return (unsigned int)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}

// Conversions; out of range they give the nearest value and NaN gives 0, as on the device.
#define ROUNDED(name, T, low, high)                                                             \
    inline T name##n(double x) { x = rint(x); return x != x ? 0 : x <= low ? (T)low : x >= high ? (T)~(T)low : (T)x; }    \
    inline T name##z(double x) { return name##n(trunc(x)); }                                    \
    inline T name##d(double x) { return name##n(floor(x)); }                                    \
    inline T name##u(double x) { return name##n(ceil(x)); }
ROUNDED(__float2int_r, int, -2147483648.0, 2147483648.0)
ROUNDED(__float2uint_r, unsigned int, 0.0, 4294967296.0)
ROUNDED(__float2ll_r, long long, -9223372036854775808.0, 9223372036854775808.0)
ROUNDED(__float2ull_r, unsigned long long, 0.0, 18446744073709551616.0)
ROUNDED(__double2int_r, int, -2147483648.0, 2147483648.0)
ROUNDED(__double2uint_r, unsigned int, 0.0, 4294967296.0)
ROUNDED(__double2ll_r, long long, -9223372036854775808.0, 9223372036854775808.0)
ROUNDED(__double2ull_r, unsigned long long, 0.0, 18446744073709551616.0)
#undef ROUNDED
inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned int x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __ull2float_rn(unsigned long long x) { return (float)x; }
inline double __ll2double_rn(long long x) { return (double)x; }
inline double __ull2double_rn(unsigned long long x) { return (double)x; }
inline float __double2float_rn(double x) { return (float)x; }

// Numbers of 16 bits.
inline float emu_float_of_half(unsigned short h) {
    unsigned int sign = (unsigned int)(h & 0x8000) << 16, rest = h & 0x7fff;
    if (rest >= 0x7c00) return __uint_as_float(sign | 0x7f800000 | (rest & 0x3ff) << 13 | (rest > 0x7c00 ? 0x400000 : 0));
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(rest << 13) * 0x1p112f));
}
inline unsigned short emu_half_of_float(float x) {
    unsigned int bits = __float_as_uint(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) return 0x7fff;
    if (rest >= 0x477ff000) return (unsigned short)(sign | 0x7c00);
    if (rest < 0x38800000)      // below the smallest normal number: the sum with 1/2 rounds at the right bit
        return (unsigned short)(sign | (__float_as_uint(__uint_as_float(rest) + 0.5f) - 0x3f000000));
    return (unsigned short)(sign | (rest + 0xfff + (rest >> 13 & 1) - 0x38000000) >> 13);
}

// Memory. Threads run one at a time: what is atomic on the device is a plain statement here.
template <typename T> inline T __ldg(const T *p) { return *p; }
template <typename T> inline T __ldca(const T *p) { return *p; }
template <typename T> inline T __ldcg(const T *p) { return *p; }
template <typename T> inline T __ldcs(const T *p) { return *p; }
template <typename T> inline void __stcs(T *p, T x) { *p = x; }
template <typename T> inline void __stcg(T *p, T x) { *p = x; }
inline void __threadfence() {}
inline void __threadfence_block() {}
#define ATOMIC(name, T, value) inline T name(T *p, T x) { T old = *p; *p = (value); return old; }
#define NUMBERS(name, value) ATOMIC(name, int, value) ATOMIC(name, unsigned int, value) ATOMIC(name, unsigned long long, value)
NUMBERS(atomicAdd, old + x) ATOMIC(atomicAdd, float, old + x) ATOMIC(atomicAdd, double, old + x)
ATOMIC(atomicSub, int, old - x) ATOMIC(atomicSub, unsigned int, old - x)
NUMBERS(atomicMax, old > x ? old : x) ATOMIC(atomicMax, long long, old > x ? old : x)
NUMBERS(atomicMin, old < x ? old : x) ATOMIC(atomicMin, long long, old < x ? old : x)
NUMBERS(atomicAnd, old & x) NUMBERS(atomicOr, old | x) NUMBERS(atomicXor, old ^ x)
NUMBERS(atomicExch, x) ATOMIC(atomicExch, float, x)
ATOMIC(atomicInc, unsigned int, old >= x ? 0 : old + 1) ATOMIC(atomicDec, unsigned int, old == 0 || old > x ? x : old - 1)
#undef ATOMIC
#undef NUMBERS
template <typename T> inline T atomicCAS(T *p, T compare, T x) { T old = *p; if (old == compare) *p = x; return old; }
