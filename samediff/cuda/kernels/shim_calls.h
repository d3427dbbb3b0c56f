// How Python calls the functions of a text. Goes behind the prelude; EMU_ENTRY behind the text, which may have defined any short name.

// The parameters in words: "*" for a pointer, "!" where it is only read, then the type; a struct is its size.
template <typename T> struct EmuType { static int put(char *p) { return snprintf(p, 24, "%d", (int)sizeof(T)); } };
template <typename T> struct EmuType<T *> { static int put(char *p) { *p = '*'; return 1 + EmuType<T>::put(p + 1); } };
template <typename T> struct EmuType<const T *> { static int put(char *p) { p[0] = '*', p[1] = '!'; return 2 + EmuType<T>::put(p + 2); } };
#define NAMED(T, text) template <> struct EmuType<T> { static int put(char *p) { return snprintf(p, 24, text); } };
NAMED(void, "void") NAMED(bool, "bool") NAMED(char, "int8") NAMED(signed char, "int8") NAMED(short, "int16") NAMED(int, "int32")
NAMED(long, "int64") NAMED(long long, "int64") NAMED(unsigned char, "uint8") NAMED(unsigned short, "uint16")
NAMED(unsigned int, "uint32") NAMED(unsigned long, "uint64") NAMED(unsigned long long, "uint64")
NAMED(float, "float32") NAMED(double, "float64") NAMED(half_t, "float16") NAMED(bfloat_t, "bfloat16")
#undef NAMED

template <int... I> struct EmuIndices {};
template <int N, int... I> struct EmuRange : EmuRange<N - 1, N - 1, I...> {};
template <int... I> struct EmuRange<0, I...> { typedef EmuIndices<I...> type; };
static void **emu_args;
template <typename... A> struct EmuCall {
    static inline void (*function)(A...);
    template <int... I> static void call(EmuIndices<I...>) { function(*(A *)emu_args[I]...); }
    static void body() { call(typename EmuRange<sizeof...(A)>::type()); }
};
template <typename... A> static void emu_words(void (*)(A...), char *out) {
    *out = 0;
    ((out += EmuType<A>::put(out), *out++ = ' ', *out = 0), ...);
}
template <typename... A> static void emu_set(void (*f)(A...)) { EmuCall<A...>::function = f, emu_body = EmuCall<A...>::body; }

#define EMU_VISIBLE extern "C" __attribute__((visibility("default")))
#define EMU_ENTRY(emu_name)                                                                                             \
    EMU_VISIBLE void emu_words_##emu_name(char *emu_out) { emu_words(emu_name, emu_out); }                              \
    EMU_VISIBLE void emu_run_##emu_name(void **emu_list, const unsigned int *emu_size, size_t emu_shared, unsigned int emu_mode,  \
                                        unsigned char *emu_stacks, char *emu_error) {                                   \
        emu_args = emu_list, emu_set(emu_name);                                                                         \
        emu_run(emu_size, emu_shared, emu_mode, emu_stacks, emu_error);                                                 \
    }
