/* One kernel dialect for CUDA C++ (NVRTC), OpenCL C 1.2 and host C++ (tests only: simt_host.hpp comes before this file).

   Kernels (*.k) are written in the C subset that the three share. Sizes and costs come as -D constants, so that loops
   unroll and constants become immediates; there are no templates. Every macro and function has a prefix, since a
   plain -DT=float breaks NVRTC's own headers.

   work-group:  SIMT_GROUP, SIMT_LANE, SIMT_BARRIER()        (SIMT_BARRIER orders local and global memory in the group)
   memory:      SIMT_GLOBAL, SIMT_SHARED (a pointer to local memory), SIMT_SHARED_ARRAY (its declaration)
   float:       SIMT_FMA(a, b, c), simt_root (the square root, a few units in the last place off), simt_larger, simt_smaller,
                simt_bits and simt_float (its 32 bits, and back); simt_pair is two floats side by side (.x, .y)
   int:         simt_min3(a, b, c); simt_quad is four words side by side (.x, .y, .z, .w), loaded and stored at once
   bits:        simt_count(a) is how many of them are set
   bytes:       SIMT_LOW_BYTE(a, b, k) is a with byte k of b in its lowest byte, simt_low_bytes(a, b, c) the lowest bytes
                of three words as the highest of one
   word_t:      what a lane computes with, chosen by SIMT_WORD:
     16   two int16, the low and the high half; one instruction per operation on sm_90 and later (DPX)
     32   one int32, which is the low half; for scores beyond 16 bits, and CUDA before sm_90, where packed 16-bit
          operations cost 4 to 15 instructions */
#ifndef SIMT_H
#define SIMT_H
#ifndef SIMT_WORD
#define SIMT_WORD 16
#endif

#if defined(__CUDACC__) /* ------------------------------------------------------------------------------------ CUDA */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef long long simt_long;
/* At least six groups (of 64) per multiprocessor: up to 168 registers each. Unbounded, NVRTC spills to reach 128. */
#define SIMT_KERNEL(group_size) extern "C" __global__ void __launch_bounds__(group_size, 6)
#define SIMT_FN static __device__ __forceinline__
#define SIMT_GLOBAL
#define SIMT_SHARED
#define SIMT_SHARED_ARRAY __shared__
#define SIMT_RESTRICT __restrict__
#define SIMT_LANE ((int)threadIdx.x)
#define SIMT_GROUP ((int)blockIdx.x)
#define SIMT_BARRIER() __syncthreads()
#define SIMT_UNROLL _Pragma("unroll")
typedef float2 simt_pair;
typedef uint4 simt_quad;
#define SIMT_FMA(a, b, c) fmaf(a, b, c)
SIMT_FN float simt_root(float a) { float root; asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(a)); return root; }
SIMT_FN float simt_larger(float a, float b) { return fmaxf(a, b); }
SIMT_FN float simt_smaller(float a, float b) { return fminf(a, b); }
SIMT_FN uint simt_bits(float a) { return __float_as_uint(a); }
SIMT_FN float simt_float(uint bits) { return __uint_as_float(bits); }
SIMT_FN int simt_count(uint a) { return __popc(a); }
SIMT_FN int simt_min3(int a, int b, int c)
{
#if __CUDA_ARCH__ >= 900
  return __vimin3_s32(a, b, c);
#else
  return min(min(a, b), c);
#endif
}
#define SIMT_LOW_BYTE(a, b, k) __byte_perm(a, b, 0x3214 + (k))
SIMT_FN uint simt_low_bytes(uint a, uint b, uint c) { return __byte_perm(__byte_perm(b, a, 0x4000), c, 0x3244); }

#if SIMT_WORD == 16
typedef uint word_t;
SIMT_FN word_t w_set(int lo, int hi) { return (uint)(ushort)lo | ((uint)hi << 16); }
SIMT_FN int w_lo(word_t a) { return (short)(a & 0xffff); }
SIMT_FN int w_hi(word_t a) { return (int)a >> 16; }
SIMT_FN uint w_bits(word_t a) { return a; }
SIMT_FN word_t w_from_bits(uint a) { return a; }
SIMT_FN word_t w_add(word_t a, word_t b) { return __vadd2(a, b); }
SIMT_FN word_t w_max(word_t a, word_t b) { return __vmaxs2(a, b); }
SIMT_FN word_t w_max3(word_t a, word_t b, word_t c) { return __vimax3_s16x2(a, b, c); }
SIMT_FN word_t w_addmax(word_t a, word_t b, word_t c) { return __viaddmax_s16x2(a, b, c); } /* max(a + b, c) */
SIMT_FN word_t w_addmin(word_t a, word_t b, word_t c) { return __viaddmin_s16x2(a, b, c); } /* min(a + b, c) */
SIMT_FN word_t w_min3(word_t a, word_t b, word_t c) { return __vimin3_s16x2(a, b, c); }
SIMT_FN word_t w_sum(word_t a, word_t b) { return a + b; } /* of halves that are not negative, below 2^15 in all */
SIMT_FN word_t w_odd(word_t a) { return a | 0x00010001u; }
SIMT_FN word_t w_join(word_t a, word_t b) { return __byte_perm(a, b, 0x5410); } /* low halves of both */
SIMT_FN uint w_pack_bytes(word_t a, word_t b) { return __byte_perm(a, b, 0x6240); } /* a.lo b.lo a.hi b.hi */
#else
SIMT_FN int w_max_(int a, int b) { return a > b ? a : b; }
#endif

#elif defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__) /* ------------------------------------- OpenCL C */
typedef long simt_long;
#define SIMT_KERNEL(group_size) __kernel __attribute__((reqd_work_group_size(group_size, 1, 1))) void
#define SIMT_FN static inline
#define SIMT_GLOBAL __global
#define SIMT_SHARED __local
#define SIMT_SHARED_ARRAY __local
#define SIMT_RESTRICT restrict
#define SIMT_LANE ((int)get_local_id(0))
#define SIMT_GROUP ((int)get_group_id(0))
#define SIMT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define SIMT_UNROLL _Pragma("unroll")
typedef float2 simt_pair;
typedef uint4 simt_quad;
#define SIMT_FMA(a, b, c) fma(a, b, c)
SIMT_FN float simt_root(float a) { return native_sqrt(a); }
SIMT_FN float simt_larger(float a, float b) { return fmax(a, b); }
SIMT_FN float simt_smaller(float a, float b) { return fmin(a, b); }
SIMT_FN uint simt_bits(float a) { return as_uint(a); }
SIMT_FN float simt_float(uint bits) { return as_float(bits); }
SIMT_FN int simt_count(uint a) { return (int)popcount(a); }
SIMT_FN int simt_min3(int a, int b, int c) { return min(min(a, b), c); }
#define SIMT_LOW_BYTE(a, b, k) (((a) & 0xffffff00u) | ((b) >> 8 * (k) & 255u))
SIMT_FN uint simt_low_bytes(uint a, uint b, uint c) { return a << 24 | (b & 255u) << 16 | (c & 255u) << 8; }

#if SIMT_WORD == 16
typedef short2 word_t;
SIMT_FN word_t w_set(int lo, int hi) { return (short2)((short)lo, (short)hi); }
SIMT_FN int w_lo(word_t a) { return a.x; }
SIMT_FN int w_hi(word_t a) { return a.y; }
SIMT_FN uint w_bits(word_t a) { return as_uint(a); }
SIMT_FN word_t w_from_bits(uint a) { return as_short2(a); }
SIMT_FN word_t w_add(word_t a, word_t b) { return a + b; }
SIMT_FN word_t w_max(word_t a, word_t b) { return max(a, b); }
SIMT_FN word_t w_max3(word_t a, word_t b, word_t c) { return max(max(a, b), c); }
SIMT_FN word_t w_addmax(word_t a, word_t b, word_t c) { return max(a + b, c); }
SIMT_FN word_t w_addmin(word_t a, word_t b, word_t c) { return min(a + b, c); }
SIMT_FN word_t w_min3(word_t a, word_t b, word_t c) { return min(min(a, b), c); }
SIMT_FN word_t w_sum(word_t a, word_t b) { return a + b; }
SIMT_FN word_t w_odd(word_t a) { return a | (short2)(1); }
SIMT_FN word_t w_join(word_t a, word_t b) { return (short2)(a.x, b.x); }
SIMT_FN uint w_pack_bytes(word_t a, word_t b) { return as_uint((uchar4)((uchar)a.x, (uchar)b.x, (uchar)a.y, (uchar)b.y)); }
#else
SIMT_FN int w_max_(int a, int b) { return max(a, b); }
#endif

#elif !defined(SIMT_HOST)
#error "host C++ needs simt_host.hpp before this file"
#endif

#if SIMT_WORD == 32 /* ----------------------------------------------------------------------- one int32, everywhere */
typedef int word_t;
SIMT_FN word_t w_set(int lo, int hi) { return lo; }
SIMT_FN int w_lo(word_t a) { return a; }
SIMT_FN int w_hi(word_t a) { return a; }
SIMT_FN uint w_bits(word_t a) { return (uint)a; }
SIMT_FN word_t w_from_bits(uint a) { return (int)a; }
SIMT_FN word_t w_add(word_t a, word_t b) { return a + b; }
SIMT_FN word_t w_max(word_t a, word_t b) { return w_max_(a, b); }
SIMT_FN word_t w_odd(word_t a) { return a | 1; }
SIMT_FN word_t w_join(word_t a, word_t b) { return a; }
SIMT_FN uint w_pack_bytes(word_t a, word_t b) { return ((uint)a & 255u) | (((uint)b & 255u) << 8); }
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
SIMT_FN word_t w_max3(word_t a, word_t b, word_t c) { return __vimax3_s32(a, b, c); }
SIMT_FN word_t w_addmax(word_t a, word_t b, word_t c) { return __viaddmax_s32(a, b, c); }
SIMT_FN word_t w_addmin(word_t a, word_t b, word_t c) { return __viaddmin_s32(a, b, c); }
#else
SIMT_FN word_t w_max3(word_t a, word_t b, word_t c) { return w_max_(w_max_(a, b), c); }
SIMT_FN word_t w_addmax(word_t a, word_t b, word_t c) { return w_max_(a + b, c); }
SIMT_FN word_t w_addmin(word_t a, word_t b, word_t c) { return a + b < c ? a + b : c; }
#endif
SIMT_FN word_t w_min3(word_t a, word_t b, word_t c) { return simt_min3(a, b, c); }
SIMT_FN word_t w_sum(word_t a, word_t b) { return a + b; }
#endif

SIMT_FN word_t w_splat(int a) { return w_set(a, a); }
SIMT_FN int w_half(word_t a, int side) { return side ? w_hi(a) : w_lo(a); }
#endif
