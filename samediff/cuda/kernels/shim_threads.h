// Blocks and threads for a C++ compiler: a block's threads take turns, each running on a stack of its own until it waits.

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;

extern "C" void emu_switch(void **leave, void *enter) asm("emu_switch");
#if defined(__x86_64__)
asm(".text\nemu_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
#define EMU_FRAME 8             // words of a new stack: six registers, where to start, and one that keeps it aligned
#define EMU_START 6
#elif defined(__aarch64__)
asm(".text\nemu_switch:\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\n"
    "stp x29, x30, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\nldp x27, x28, [sp, #64]\n"
    "ldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nret\n");
#define EMU_FRAME 20
#define EMU_START 11
#else
#error "the emulator knows how threads take turns on x86-64 and 64-bit Arm only"
#endif

enum { EMU_NEW, EMU_READY, EMU_BARRIER, EMU_WARP, EMU_ENDED };
enum { EMU_SHFL, EMU_UP, EMU_DOWN, EMU_XOR, EMU_BALLOT, EMU_SYNC };
static const int EMU_STACK = 1 << 16, EMU_MOST = 1024, EMU_POOL = 227 << 10, EMU_EDGE = 256;
static const unsigned long long EMU_CANARY = 0x5ca1ab1e0ddba11ull;

struct EmuThread {
    void *sp;
    unsigned char *stack;
    int state, line, op, lane, width;
    unsigned int mask;
    unsigned long long value, result;
};
static EmuThread emu_threads[EMU_MOST];
static unsigned char *emu_free[EMU_MOST];
static int emu_count, emu_current, emu_frees;
static void *emu_main;
static void (*emu_body)();
static char *emu_message;
static unsigned char emu_pool[EMU_POOL + EMU_EDGE] __attribute__((aligned(128)));

static void emu_leave() { emu_switch(&emu_threads[emu_current].sp, emu_main); }

// The first error ends the launch: this thread never continues.
template <typename... A> static void emu_fail(const char *format, A... a) {
    if (!*emu_message) snprintf(emu_message, 512, format, a...);
}

static void emu_start() {
    emu_body();
    emu_threads[emu_current].state = EMU_ENDED;
    emu_leave();
    __builtin_trap();
}

static void emu_resume(int t) {
    EmuThread &thread = emu_threads[t];
    if (thread.state == EMU_NEW) {
        thread.stack = emu_free[--emu_frees];
        *(unsigned long long *)thread.stack = EMU_CANARY;
        void **frame = (void **)(thread.stack + EMU_STACK) - EMU_FRAME;
        memset(frame, 0, EMU_FRAME * sizeof(void *));
        frame[EMU_START] = (void *)emu_start;
        thread.sp = frame;
    }
    thread.state = EMU_READY;
    emu_current = t;
    threadIdx.x = t % blockDim.x;
    threadIdx.y = t / blockDim.x % blockDim.y;
    threadIdx.z = t / (blockDim.x * blockDim.y);
    emu_switch(&emu_main, thread.sp);
    if (*(unsigned long long *)thread.stack != EMU_CANARY) emu_fail("local variables of a thread take more than %d bytes", EMU_STACK);
    if (thread.state == EMU_ENDED) emu_free[emu_frees++] = thread.stack;
}

// All threads of the block wait here; the result is the number of those whose value is not zero.
static int emu_barrier(int line, int value) {
    EmuThread &thread = emu_threads[emu_current];
    thread.state = EMU_BARRIER, thread.line = line, thread.value = value != 0;
    emu_leave();
    return (int)thread.result;
}
#define __syncthreads() ((void)emu_barrier(__LINE__, 0))
#define __syncthreads_count(value) emu_barrier(__LINE__, (value) != 0)
#define __syncthreads_or(value) (emu_barrier(__LINE__, (value) != 0) != 0)
#define __syncthreads_and(value) (emu_barrier(__LINE__, (value) == 0) == 0)

static void emu_release() {
    int line = 0, ended = 0, waits = 0, sum = 0;
    for (int t = 0; t < emu_count; t++) {
        EmuThread &thread = emu_threads[t];
        if (thread.state == EMU_ENDED) { ended++; continue; }
        if (thread.state == EMU_WARP)
            return emu_fail("thread %d waits for lanes %#x of its warp, which never come (line %d)", t, thread.mask, thread.line);
        if (waits++ && thread.line != line)
            return emu_fail("threads of one block wait at different __syncthreads (lines %d and %d)", line, thread.line);
        line = thread.line, sum += (int)thread.value;
    }
    if (ended) return emu_fail("%d of %d threads have ended while the others wait at __syncthreads (line %d)", ended, emu_count, line);
    for (int t = 0; t < emu_count; t++) emu_threads[t].state = EMU_READY, emu_threads[t].result = sum;
}

// A warp's exchange: the last lane to come works out the results of all.
static unsigned long long emu_warp(int line, int op, unsigned int mask, unsigned long long value, int lane, int width) {
    EmuThread &self = emu_threads[emu_current];
    int first = emu_current & ~31, own = emu_current & 31;
    self.state = EMU_WARP, self.op = op, self.mask = mask, self.line = line;
    self.value = value, self.lane = lane, self.width = width;
    if (!(mask >> own & 1)) emu_fail("lane %d is not in its own mask %#x (line %d)", own, mask, line);
    else if (width < 1 || width > 32 || width & (width - 1)) emu_fail("a shuffle of width %d (line %d)", width, line);
    unsigned int there = 0, ballot = 0;
    for (int i = 0; i < 32; i++) {
        if (!(mask >> i & 1) || first + i >= emu_count) continue;
        EmuThread &other = emu_threads[first + i];
        if (other.state == EMU_ENDED) emu_fail("lane %d of mask %#x has ended (line %d)", i, mask, line);
        if (other.state != EMU_WARP) { emu_leave(); return self.result; }
        if (other.op != op || other.mask != mask || other.line != line)
            emu_fail("lanes of one warp exchange in different ways (lines %d and %d, masks %#x and %#x)", line, other.line, mask, other.mask);
        there |= 1u << i;
        if (other.value) ballot |= 1u << i;
    }
    if (*emu_message) emu_leave();
    for (int i = 0; i < 32; i++) {
        if (!(there >> i & 1)) continue;
        EmuThread &other = emu_threads[first + i];
        int part = i & ~(other.width - 1), end = part + other.width, from = i;
        if (op == EMU_SHFL) from = part + (other.lane & (other.width - 1));
        if (op == EMU_UP && i - other.lane >= part) from = i - other.lane;
        if (op == EMU_DOWN && i + other.lane < end) from = i + other.lane;
        if (op == EMU_XOR && (i ^ other.lane) < end) from = i ^ other.lane;
        other.result = op == EMU_BALLOT ? ballot : there >> from & 1 ? emu_threads[first + from].value : ~0ull;   // undefined: NaN
        other.state = EMU_READY;
    }
    return self.result;
}
template <typename T> static T emu_shuffle(int line, int op, unsigned int mask, T x, int lane, int width = 32) {
    static_assert(__is_trivially_copyable(T) && sizeof(T) >= 4 && sizeof(T) <= 8 && !__is_class(T), "no shuffle takes this type");
    unsigned long long value = 0;
    memcpy(&value, &x, sizeof x);
    value = emu_warp(line, op, mask, value, lane, width);
    memcpy(&x, &value, sizeof x);
    return x;
}
#define __shfl_sync(...) emu_shuffle(__LINE__, EMU_SHFL, __VA_ARGS__)
#define __shfl_up_sync(...) emu_shuffle(__LINE__, EMU_UP, __VA_ARGS__)
#define __shfl_down_sync(...) emu_shuffle(__LINE__, EMU_DOWN, __VA_ARGS__)
#define __shfl_xor_sync(...) emu_shuffle(__LINE__, EMU_XOR, __VA_ARGS__)
#define __ballot_sync(mask, x) ((unsigned int)emu_warp(__LINE__, EMU_BALLOT, mask, (x) != 0, 0, 32))
#define __any_sync(mask, x) (emu_warp(__LINE__, EMU_BALLOT, mask, (x) != 0, 0, 32) != 0)
#define __all_sync(mask, x) (emu_warp(__LINE__, EMU_BALLOT, mask, (x) == 0, 0, 32) == 0)
#define EMU_FULL 0xffffffffu
static void emu_syncwarp(int line, unsigned int mask = EMU_FULL) { emu_warp(line, EMU_SYNC, mask, 0, 0, 32); }
#define __syncwarp(...) emu_syncwarp(__LINE__ __VA_OPT__(,) __VA_ARGS__)

// The order of turns: 0 forward, 1 reversed, else random.
struct EmuOrder {
    unsigned int mode, seed;
    void fill(int *order, int n) {
        for (int i = 0; i < n; i++) order[i] = mode == 1 ? n - 1 - i : i;
        for (int i = n - 1; mode > 1 && i > 0; i--) {
            seed = seed * 1664525u + 1013904223u;
            int j = (int)((unsigned long long)seed * (i + 1) >> 32), swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
    }
};

#ifndef __APPLE__
extern "C" unsigned char __start_emu_shared[] __attribute__((weak, visibility("hidden")));
extern "C" unsigned char __stop_emu_shared[] __attribute__((weak, visibility("hidden")));
#endif

static void emu_block(EmuOrder &turns, size_t dynamic) {
    static int order[EMU_MOST];
#ifndef __APPLE__
    memset(__start_emu_shared, 255, __stop_emu_shared - __start_emu_shared);    // shared memory begins with any values: NaN
#endif
    memset(emu_pool, 255, dynamic + EMU_EDGE);
    for (int t = 0; t < emu_count; t++) emu_threads[t].state = EMU_NEW;
    for (;;) {
        bool moved = false, ended = true;
        turns.fill(order, emu_count);
        for (int i = 0; i < emu_count; i++) {
            int &state = emu_threads[order[i]].state;
            if (state == EMU_NEW || state == EMU_READY) {
                emu_resume(order[i]);
                if (*emu_message) return;
                moved = true;
            }
            ended = ended && state == EMU_ENDED;
        }
        if (ended) break;
        if (!moved) emu_release();
        if (*emu_message) return;
    }
    for (int i = 0; i < EMU_EDGE; i++)
        if (emu_pool[dynamic + i] != 255) return emu_fail("a write behind the %d bytes of dynamic shared memory", (int)dynamic);
}

static void emu_run(const unsigned int *size, size_t dynamic, unsigned int mode, unsigned char *stacks, char *message) {
    gridDim = dim3{size[0], size[1], size[2]}, blockDim = dim3{size[3], size[4], size[5]};
    emu_count = (int)(size[3] * size[4] * size[5]), emu_message = message, emu_frees = 0;
    for (int t = emu_count - 1; t >= 0; t--) emu_free[emu_frees++] = stacks + (size_t)t * EMU_STACK;
    unsigned int blocks = size[0] * size[1] * size[2];
    EmuOrder turns = {mode, mode};
    for (unsigned int i = 0; i < blocks && !*message; i++) {
        unsigned int b = mode == 1 ? blocks - 1 - i : i;
        blockIdx = uint3{b % size[0], b / size[0] % size[1], b / (size[0] * size[1])};
        emu_block(turns, dynamic);
    }
}
