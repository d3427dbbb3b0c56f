// Functions of expressions with the special cases of NumPy.

__device__ __forceinline__ float round_half(float x) { return float_of(half_of(x)); }
__device__ __forceinline__ float round_bfloat(float x) { return float_of(bfloat_of(x)); }

template <typename T> __device__ __forceinline__ T sign_of(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x; }

// Of floating numbers.

__device__ __forceinline__ float divided(float a, float b) {
    if (b == 0.0f) return a / b;
    const float m = fmodf(a, b), q = (a - m) / b;
    return rintf(m != 0.0f && (b < 0.0f) != (m < 0.0f) ? q - 1 : q);
}
__device__ __forceinline__ double divided(double a, double b) {
    if (b == 0.0) return a / b;
    const double m = fmod(a, b), q = (a - m) / b;
    return rint(m != 0.0 && (b < 0.0) != (m < 0.0) ? q - 1 : q);
}
__device__ __forceinline__ float rest(float a, float b) {
    const float m = fmodf(a, b);
    return m != 0.0f && (b < 0.0f) != (m < 0.0f) ? m + b : m;
}
__device__ __forceinline__ double rest(double a, double b) {
    const double m = fmod(a, b);
    return m != 0.0 && (b < 0.0) != (m < 0.0) ? m + b : m;
}
__device__ __forceinline__ float log_sum(float a, float b) {
    const float top = vmax(a, b);
    return top != top || top - top != 0.0f ? top : top + log1pf(expf(-fabsf(a - b)));       // inf - inf is NaN
}
__device__ __forceinline__ double log_sum(double a, double b) {
    const double top = vmax(a, b);
    return top != top || top - top != 0.0 ? top : top + log1p(exp(-fabs(a - b)));
}
__device__ __forceinline__ float log_gamma(float x) { return x < 0.0f && x - x != 0.0f ? x : lgammaf(x); }
__device__ __forceinline__ double log_gamma(double x) { return x < 0.0 && x - x != 0.0 ? x : lgamma(x); }

// Of integers: division by 0 gives 0, results wrap.

template <typename T> __device__ __forceinline__ T int_divided(T a, T b) {
    if (b == T(0)) return T(0);
    if (T(-1) < T(0) && b == T(-1)) return negated(a);
    const T q = (T)(a / b);
    return (T)(q - ((T)(a % b) != T(0) && (a < T(0)) != (b < T(0)) ? 1 : 0));
}
template <typename T> __device__ __forceinline__ T int_truncated(T a, T b) {
    return b == T(0) || (T(-1) < T(0) && b == T(-1)) ? T(0) : (T)(a % b);
}
template <typename T> __device__ __forceinline__ T int_rest(T a, T b) {
    const T m = int_truncated(a, b);
    return m != T(0) && (m < T(0)) != (b < T(0)) ? (T)(m + b) : m;
}
template <typename T> __device__ __forceinline__ T int_power(T a, T b) {
    if (b < T(0)) return a == T(1) || (a == T(-1) && b % 2 == 0) ? T(1) : a == T(-1) ? T(-1) : T(0);
    unsigned long long power = 1, x = (unsigned long long)a;
    for (unsigned long long n = (unsigned long long)b; n; n >>= 1, x *= x) if (n & 1) power *= x;
    return (T)power;
}
template <typename T> __device__ __forceinline__ T shifted_left(T a, T b) {
    return (unsigned long long)b < 8 * sizeof(T) ? (T)((unsigned long long)a << (unsigned long long)b) : T(0);
}
template <typename T> __device__ __forceinline__ T shifted_right(T a, T b) {
    return (unsigned long long)b < 8 * sizeof(T) ? (T)(a >> b) : a < T(0) ? T(-1) : T(0);
}
