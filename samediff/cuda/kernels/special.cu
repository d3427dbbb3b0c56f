// The derivatives of the logarithm of the gamma function, in double.

__device__ inline double digamma(double x) {
    const double nan = x - x == 0.0 ? 0.0 / (x - x) : x - x;
    if (x != x) return x;
    if (x - x != 0.0) return x > 0.0 ? x : nan;
    double sum = 0.0;
    if (x <= 0.0) {
        if (x == 0.0) return copysign(1.0 / 0.0, -x);
        if (x == floor(x)) return nan;
        sum = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - rint(x)));      // reflected
        x = 1.0 - x;
    }
    for (; x < 12.0; x += 1.0) sum -= 1.0 / x;
    const double z = 1.0 / (x * x);
    const double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
    return sum + log(x) - 0.5 / x - series;
}

// sum of (q + k) ** -s over k >= 0 of q > 0, by Euler and Maclaurin
__device__ inline double hurwitz_of_positive(double s, double q) {
    if (q == 1.0 / 0.0) return 0.0;
    double sum = 0.0;
    for (; q < 12.0 + s; q += 1.0) {
        const double term = pow(q, -s);
        sum += term;
        if (!(term > 1e-17 * sum)) return sum;          // also where it vanishes or overflows at once
    }
    const double last = pow(q, -s);
    sum += last * q / (s - 1.0) + 0.5 * last;
    const double terms[8] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0,
                             1.0 / 74724249600.0, -3617.0 / 10670622842880000.0};
    double factor = s * last / q;
    for (int k = 0; k < 8; ++k) {
        sum += terms[k] * factor;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
    }
    return sum;
}

// the same of any q; the terms of a negative one are those of two positive ones, however many they are
__device__ inline double hurwitz(double s, double q) {
    const double inf = 1.0 / 0.0, nan = inf - inf;
    if (s != s || q != q || s < 1.0) return nan;
    if (s == 1.0) return inf;
    if (q > 0.0) return hurwitz_of_positive(s, q);
    if (q == floor(q)) return inf;
    if (s != floor(s)) return nan;
    const double sign = fmod(s, 2.0) == 0.0 ? 1.0 : -1.0;
    return hurwitz_of_positive(s, q - floor(q)) + sign * (hurwitz_of_positive(s, ceil(q) - q) - hurwitz_of_positive(s, 1.0 - q));
}

__device__ inline double polygamma(double n, double x) {
    if (n == 0.0) return digamma(x);
    const double inf = 1.0 / 0.0;
    if (n < 0.0 || n != floor(n)) return inf - inf;
    return (fmod(n, 2.0) == 1.0 ? 1.0 : -1.0) * tgamma(n + 1.0) * hurwitz(n + 1.0, x);
}
