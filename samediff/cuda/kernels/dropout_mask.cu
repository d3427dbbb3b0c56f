// Which numbers of NumPy's Philox stream lie below a limit (Salmon et al., 2011: Philox4x64, ten rounds). A block of the stream is four
// words, which are eight float32 numbers: 24 bits of each half, the lower one first. NumPy counts blocks from 1.

#define FIRST_FACTOR 0xD2E7470EE14C6C93ull
#define SECOND_FACTOR 0xCA5A826395121157ull
#define FIRST_STEP 0x9E3779B97F4A7C15ull
#define SECOND_STEP 0xBB67AE8584CAA73Bull

// kept[k] = (number k of the stream < limit), numbers being 24 bits; words: seed, iteration, draw.
extern "C" __global__ void keep(const long long *__restrict__ words, bool *__restrict__ kept, const long long size,
                                const unsigned long long stream, const unsigned int limit) {
    const unsigned long long seed = words[0], iteration = words[1], draw = words[2];
    const bool wide = ((unsigned long long)kept & 7) == 0;
    for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; 8 * k < size; k += (long long)gridDim.x * blockDim.x) {
        unsigned long long a = k + 1, b = 0, c = iteration, d = draw, key = seed, other_key = stream;
        for (int round = 0; round < 10; round++) {
            const unsigned long long upper = __umul64hi(FIRST_FACTOR, a), lower = FIRST_FACTOR * a;
            const unsigned long long other_upper = __umul64hi(SECOND_FACTOR, c), other_lower = SECOND_FACTOR * c;
            a = other_upper ^ b ^ key;
            b = other_lower;
            c = upper ^ d ^ other_key;
            d = lower;
            key += FIRST_STEP;
            other_key += SECOND_STEP;
        }
        const unsigned long long block[4] = {a, b, c, d};
        unsigned long long flags = 0;
        for (int i = 0; i < 8; i++)
            flags |= (unsigned long long)((unsigned int)(block[i / 2] >> 32 * (i % 2)) >> 8 < limit) << 8 * i;
        if (wide && 8 * k + 8 <= size)
            ((unsigned long long *)kept)[k] = flags;
        else
            for (int i = 0; i < 8 && 8 * k + i < size; i++)
                kept[8 * k + i] = flags >> 8 * i & 1;
    }
}
