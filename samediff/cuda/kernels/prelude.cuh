// What every text may use. Numbers of 16 bits are structs: read with load(), computed in float, written with store().

struct half_t { unsigned short bits; };
struct bfloat_t { unsigned short bits; };

// The type of the arithmetic for numbers of type T, and conversions: value = load(array[i]); store(array[i], value).
// (half_of, float_of: from the device, see below, or from the shim of the emulator.)
#ifndef EMULATED
__device__ __forceinline__ float float_of(half_t x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
__device__ __forceinline__ half_t half_of(float x) { half_t y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
#else
inline float float_of(half_t x) { return emu_float_of_half(x.bits); }
inline half_t half_of(float x) { half_t y; y.bits = emu_half_of_float(x); return y; }
#endif

__device__ __forceinline__ float float_of(bfloat_t x) { return __uint_as_float((unsigned int)x.bits << 16); }
__device__ __forceinline__ bfloat_t bfloat_of(float x) {
    unsigned int u = __float_as_uint(x);
    bfloat_t y;
    y.bits = x != x ? (unsigned short)((u >> 16) | 64) : (unsigned short)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
    return y;
}

template <typename T> struct work_of { typedef T type; };
template <> struct work_of<half_t> { typedef float type; };
template <> struct work_of<bfloat_t> { typedef float type; };

template <typename T> __device__ __forceinline__ T load(T x) { return x; }
__device__ __forceinline__ float load(half_t x) { return float_of(x); }
__device__ __forceinline__ float load(bfloat_t x) { return float_of(x); }
template <typename T, typename V> __device__ __forceinline__ void store(T &place, V value) { place = (T)value; }
template <typename V> __device__ __forceinline__ void store(half_t &place, V value) { place = half_of((float)value); }
template <typename V> __device__ __forceinline__ void store(bfloat_t &place, V value) { place = bfloat_of((float)value); }

// Of integers, which wrap.
template <typename T> __device__ __forceinline__ T negated(T x) { return (T)(0ull - (unsigned long long)x); }

// Maximum and minimum that keep NaN.
template <typename T> __device__ __forceinline__ T vmax(T a, T b) { return (a > b || a != a) ? a : b; }
template <typename T> __device__ __forceinline__ T vmin(T a, T b) { return (a < b || a != a) ? a : b; }
