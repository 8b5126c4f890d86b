/* Operations that generated code asks of its host: rare functions, and all of f16. Numbers of operations are in the
   enumerations that the printer puts before this file. */

static f64 dz_f16_to_f64(f16 bits) {
  i32 exponent = bits >> 10 & 31, fraction = bits & 1023;
  f64 size = exponent == 31  ? (fraction ? (f64)NAN : (f64)INFINITY)
             : exponent == 0 ? ldexp(fraction, -24)
                             : ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -size : size;
}

/* Rounds once, to nearest, ties to even. */
static f16 dz_f16_of_f64(f64 x) {
  f16 sign = signbit(x) ? 0x8000 : 0;
  f64 size = fabs(x);
  if (x != x) return sign | 0x7e00;
  if (size >= 65520.0) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | (f16)rint(size * 0x1p24);
  int exponent;
  f64 fraction = frexp(size, &exponent);
  i32 digits = (i32)rint(fraction * 2048.0);
  return sign | (f16)(((exponent + 13) << 10) + digits);
}

#define DZ_PI 3.14159265358979323846264338327950288

/* sin (pi * x), exact where the result is 0, 1 or -1. The reduction modulo 2 is exact. */
static f64 dz_sinpi(f64 x) {
  f64 r = fmod(x, 2.0), a = fabs(r);
  f64 y = a <= 0.25   ? sin(a * DZ_PI)
          : a < 0.75  ? cos((a - 0.5) * DZ_PI)
          : a <= 1.25 ? sin((1.0 - a) * DZ_PI)
          : a < 1.75  ? -cos((a - 1.5) * DZ_PI)
                      : sin((a - 2.0) * DZ_PI);
  return signbit(r) ? -y : y;
}

static f64 dz_cospi(f64 x) {
  f64 a = fabs(fmod(x, 2.0));
  return a <= 0.25   ? cos(a * DZ_PI)
         : a < 0.75  ? sin((0.5 - a) * DZ_PI)
         : a <= 1.25 ? -cos((a - 1.0) * DZ_PI)
         : a < 1.75  ? sin((a - 1.5) * DZ_PI)
                     : cos((2.0 - a) * DZ_PI);
}

/* The Bernoulli numbers B2, B4, ... */
static const f64 dz_bernoulli[12] = {
    1.0 / 6.0,     -1.0 / 30.0,     1.0 / 42.0,        -1.0 / 30.0,      5.0 / 66.0,       -691.0 / 2730.0,
    7.0 / 6.0,     -3617.0 / 510.0, 43867.0 / 798.0,   -174611.0 / 330.0, 854513.0 / 138.0, -236364091.0 / 2730.0,
};

/* A sum that keeps what rounding loses. */
typedef struct {
  f64 high, low;
} dz_sum;

static void dz_sum_add(dz_sum *total, f64 x) {
  f64 sum = total->high + x;
  total->low += fabs(total->high) >= fabs(x) ? (total->high - sum) + x : (x - sum) + total->high;
  total->high = sum;
}

static f64 dz_power(f64 x, i32 n) {
  bool inverse = n < 0;
  f64 power = 1.0;
  for (u32 rest = inverse ? -(u32)n : (u32)n; rest; rest >>= 1, x *= x) {
    if (rest & 1) power *= x;
  }
  return inverse ? 1.0 / power : power;
}

static f64 dz_factorial(i32 n) {
  f64 product = 1.0;
  for (i32 k = 1; k <= n; k++) product *= k;
  return product;
}

/* Orders from 1 on: a sum of terms of one sign, and an asymptotic series for the rest of it. */
static f64 dz_polygamma_positive(i32 order, f64 x) {
  dz_sum sum = {0, 0};
  f64 z = x;
  for (; z < 12.0 + order; z += 1.0) dz_sum_add(&sum, dz_power(z, -(order + 1)));
  f64 weight = dz_power(z, -(order + 1));
  f64 rest = weight * (0.5 + z / order);
  for (i32 k = 1; k <= 12; k++) {
    f64 low = 2.0 * k + order - 2, high = 2.0 * k + order - 1;
    f64 grown = k == 1 ? (order + 1) / 2.0 : low * high / (2.0 * k * (2.0 * k - 1));
    weight *= grown / (k == 1 ? z : z * z);
    rest += dz_bernoulli[k - 1] * weight;
  }
  dz_sum_add(&sum, rest);
  f64 value = dz_factorial(order) * (sum.high + sum.low);
  return order % 2 == 1 ? value : -value;
}

static f64 dz_digamma_positive(f64 x) {
  const f64 zero_high = 1.4616321449683622, zero_low = 9.549995429965697e-17;
  if (x >= 10.0) {
    f64 square = 1.0 / (x * x), series = 0.0;
    for (i32 i = 11; i >= 0; i--) series = (series + dz_bernoulli[i] / (2 * i + 2)) * square;
    return log(x) - (0.5 / x + series);
  }
  if (x < 1.0) return dz_digamma_positive(x + 1.0) - 1.0 / x;
  f64 near = x;
  dz_sum steps = {0, 0};
  while (near > 2.0) {
    near -= 1.0;
    dz_sum_add(&steps, 1.0 / near);
  }
  f64 distance = (near - zero_high) - zero_low, series = 0.0;
  for (i32 k = 48; k >= 1; k--) {
    series = (series + dz_polygamma_positive(k, zero_high) / dz_factorial(k)) * distance;
  }
  dz_sum_add(&steps, series);
  return steps.high + steps.low;
}

/* The derivative of the given order of cot(pi x): a polynomial in it. */
static f64 dz_cotangent_derivative(i32 order, f64 x) {
  f64 rest = x - round(x), cot = cos(DZ_PI * rest) / sin(DZ_PI * rest), value = 0.0;
  f64 *polynomial = calloc(2 * ((size_t)order + 3), sizeof *polynomial);
  if (!polynomial) return NAN;
  f64 *next = polynomial + order + 3;
  polynomial[1] = 1.0;
  for (i32 step = 0; step < order; step++) {
    memset(next, 0, (order + 3) * sizeof *next);
    for (i32 power = 1; power < step + 2; power++) {
      f64 c = -DZ_PI * polynomial[power] * power;
      next[power - 1] += c;
      next[power + 1] += c;
    }
    memcpy(polynomial, next, (order + 3) * sizeof *next);
  }
  for (i32 power = order + 1; power >= 0; power--) value = value * cot + polynomial[power];
  free(polynomial);
  return value;
}

static f64 dz_polygamma(i32 order, f64 x) {
  if (order < 0 || x != x || x == -INFINITY) return NAN;
  bool odd = order % 2 == 1;
  if (x == INFINITY) return order == 0 ? x : 0.0;
  if (x > 0.0) return order == 0 ? dz_digamma_positive(x) : dz_polygamma_positive(order, x);
  if (x == trunc(x)) return odd ? INFINITY : NAN;
  if (x > -1.0) {
    f64 pole = dz_factorial(order) / dz_power(x, order + 1);
    return dz_polygamma(order, x + 1.0) - (odd ? -pole : pole);
  }
  f64 mirrored = dz_polygamma(order, 1.0 - x);
  return (odd ? -mirrored : mirrored) - DZ_PI * dz_cotangent_derivative(order, x);
}

static f64 dz_unop_f64(i32 op, f64 x) {
  switch (op) {
    case DZ_UNOP_NEG: return -x;
    case DZ_UNOP_ABS: return fabs(x);
    case DZ_UNOP_SIGNUM: return f64_signum(x);
    case DZ_UNOP_SQRT: return sqrt(x);
    case DZ_UNOP_RSQRT: return 1.0 / sqrt(x);
    /* That at double precision is not always rounded correctly. */
    case DZ_UNOP_CBRT: return (f64)cbrtl(x);
    case DZ_UNOP_EXP: return exp(x);
    case DZ_UNOP_LOG: return log(x);
    case DZ_UNOP_LOG2: return log2(x);
    case DZ_UNOP_LOG10: return log10(x);
    case DZ_UNOP_LOG1P: return log1p(x);
    case DZ_UNOP_SIN: return sin(x);
    case DZ_UNOP_COS: return cos(x);
    case DZ_UNOP_TAN: return tan(x);
    case DZ_UNOP_SINPI: return dz_sinpi(x);
    case DZ_UNOP_COSPI: return dz_cospi(x);
    case DZ_UNOP_TANPI: return dz_sinpi(x) / dz_cospi(x);
    case DZ_UNOP_ASIN: return asin(x);
    case DZ_UNOP_ACOS: return acos(x);
    case DZ_UNOP_ATAN: return atan(x);
    case DZ_UNOP_ASINPI: return asin(x) / DZ_PI;
    case DZ_UNOP_ACOSPI: return acos(x) / DZ_PI;
    case DZ_UNOP_ATANPI: return atan(x) / DZ_PI;
    case DZ_UNOP_SINH: return sinh(x);
    case DZ_UNOP_COSH: return cosh(x);
    case DZ_UNOP_TANH: return tanh(x);
    case DZ_UNOP_ASINH: return asinh(x);
    case DZ_UNOP_ACOSH: return acosh(x);
    case DZ_UNOP_ATANH: return atanh(x);
    case DZ_UNOP_GAMMA: return tgamma(x);
    case DZ_UNOP_LGAMMA: return lgamma(x);
    case DZ_UNOP_ERF: return erf(x);
    case DZ_UNOP_ERFC: return erfc(x);
    case DZ_UNOP_CEIL: return ceil(x);
    case DZ_UNOP_FLOOR: return floor(x);
    case DZ_UNOP_TRUNC: return trunc(x);
    case DZ_UNOP_ROUND: return rint(x);
    default: return NAN;
  }
}

/* What exists at single precision is computed there; the rest rounds the result at double precision. */
static f32 dz_unop_f32(i32 op, f32 x) {
  switch (op) {
    case DZ_UNOP_SQRT: return sqrtf(x);
    case DZ_UNOP_RSQRT: return 1.0f / sqrtf(x);
    case DZ_UNOP_EXP: return expf(x);
    case DZ_UNOP_LOG: return logf(x);
    case DZ_UNOP_SIN: return sinf(x);
    case DZ_UNOP_COS: return cosf(x);
    case DZ_UNOP_TAN: return tanf(x);
    case DZ_UNOP_TANH: return tanhf(x);
    default: return (f32)dz_unop_f64(op, x);
  }
}

static u64 dz_host_unop(i32 op, i32 type, u64 bits) {
  if (type == DZ_F64) return dz_bits_f64(dz_unop_f64(op, dz_from_f64(bits)));
  if (type == DZ_F32) return dz_bits_f32(dz_unop_f32(op, dz_from_f32(bits)));
  if (type != DZ_F16) return 0;
  f64 x = dz_f16_to_f64((f16)bits);
  switch (op) {
    case DZ_UNOP_NEG: return (f16)bits ^ 0x8000;
    case DZ_UNOP_TO_BITS: return (f16)bits;
    case DZ_UNOP_ISNAN: return x != x;
    case DZ_UNOP_ISINF: return isinf(x) != 0;
    default: return dz_f16_of_f64(dz_unop_f32(op, (f32)x));
  }
}

static f64 dz_binop_f64(i32 op, f64 x, f64 y) {
  switch (op) {
    case DZ_BINOP_ADD: return x + y;
    case DZ_BINOP_SUB: return x - y;
    case DZ_BINOP_MUL: return x * y;
    case DZ_BINOP_DIV: return x / y;
    case DZ_BINOP_MOD: return fmod(x, y);
    case DZ_BINOP_POW: return pow(x, y);
    case DZ_BINOP_MIN: return f64_min(x, y);
    case DZ_BINOP_MAX: return f64_max(x, y);
    case DZ_BINOP_ATAN2: return atan2(x, y);
    case DZ_BINOP_ATAN2PI: return atan2(x, y) / DZ_PI;
    case DZ_BINOP_HYPOT: return hypot(x, y);
    case DZ_BINOP_NEXTAFTER: return nextafter(x, y);
    case DZ_BINOP_COPYSIGN: return copysign(x, y);
    default: return NAN;
  }
}

static f32 dz_binop_f32(i32 op, f32 x, f32 y) {
  switch (op) {
    case DZ_BINOP_ADD: return x + y;
    case DZ_BINOP_SUB: return x - y;
    case DZ_BINOP_MUL: return x * y;
    case DZ_BINOP_DIV: return x / y;
    case DZ_BINOP_MOD: return fmodf(x, y);
    case DZ_BINOP_POW: return powf(x, y);
    case DZ_BINOP_NEXTAFTER: return nextafterf(x, y);
    default: return (f32)dz_binop_f64(op, x, y);
  }
}

static f16 dz_next_after_f16(f16 bits, f64 y) {
  f64 x = dz_f16_to_f64(bits);
  if (x != x || y != y) return 0x7e00;
  if (x == y) return dz_f16_of_f64(y);
  if (x == 0.0) return signbit(y) ? 0x8001 : 1;
  return (x < y) == (x > 0.0) ? bits + 1 : bits - 1;
}

static u64 dz_host_binop(i32 op, i32 type, u64 a, u64 b) {
  bool whole = op == DZ_BINOP_LDEXP || op == DZ_BINOP_POLYGAMMA;
  f64 x = type == DZ_F64 ? dz_from_f64(a) : type == DZ_F32 ? dz_from_f32(a) : dz_f16_to_f64((f16)a);
  if (whole) {
    f64 result = op == DZ_BINOP_LDEXP ? ldexp(x, (i32)b) : dz_polygamma((i32)b, x);
    return type == DZ_F64   ? dz_bits_f64(result)
           : type == DZ_F32 ? dz_bits_f32((f32)result)
                            : dz_f16_of_f64(result);
  }
  if (type == DZ_F64) return dz_bits_f64(dz_binop_f64(op, x, dz_from_f64(b)));
  if (type == DZ_F32) return dz_bits_f32(dz_binop_f32(op, (f32)x, dz_from_f32(b)));
  if (type != DZ_F16) return 0;
  f64 y = dz_f16_to_f64((f16)b);
  if (op == DZ_BINOP_NEXTAFTER) return dz_next_after_f16((f16)a, y);
  return dz_f16_of_f64(dz_binop_f32(op, (f32)x, (f32)y));
}

static u64 dz_host_ternop(i32 op, i32 type, u64 a, u64 b, u64 c) {
  switch (op) {
    case DZ_TERNOP_FMA:
      if (type == DZ_F64) return dz_bits_f64(fma(dz_from_f64(a), dz_from_f64(b), dz_from_f64(c)));
      if (type == DZ_F32) return dz_bits_f32(fmaf(dz_from_f32(a), dz_from_f32(b), dz_from_f32(c)));
      return dz_f16_of_f64(fma(dz_f16_to_f64((f16)a), dz_f16_to_f64((f16)b), dz_f16_to_f64((f16)c)));
    case DZ_TERNOP_LERP: {
      u64 scaled = dz_host_binop(DZ_BINOP_MUL, type, dz_host_binop(DZ_BINOP_SUB, type, b, a), c);
      return dz_host_binop(DZ_BINOP_ADD, type, a, scaled);
    }
    default: return dz_host_binop(DZ_BINOP_ADD, type, dz_host_binop(DZ_BINOP_MUL, type, a, b), c);
  }
}

/* Generated code asks for conversions from and to f16 only. */
static u64 dz_host_convert(i32 from, i32 to, u64 bits) {
  f64 x;
  switch (from) {
    case DZ_I8: x = (i8)bits; break;
    case DZ_I16: x = (i16)bits; break;
    case DZ_I32: x = (i32)bits; break;
    case DZ_I64: x = (f64)(i64)bits; break;
    case DZ_U8: x = (u8)bits; break;
    case DZ_U16: x = (u16)bits; break;
    case DZ_U32: x = (u32)bits; break;
    case DZ_U64: x = (f64)bits; break;
    case DZ_F16: x = dz_f16_to_f64((f16)bits); break;
    case DZ_F32: x = dz_from_f32(bits); break;
    case DZ_F64: x = dz_from_f64(bits); break;
    default: x = (bits & 255) != 0; break;
  }
  switch (to) {
    case DZ_I8: return dz_bits_i8(i8_of_f64(x));
    case DZ_I16: return dz_bits_i16(i16_of_f64(x));
    case DZ_I32: return dz_bits_i32(i32_of_f64(x));
    case DZ_I64: return dz_bits_i64(i64_of_f64(x));
    case DZ_U8: return dz_bits_u8(u8_of_f64(x));
    case DZ_U16: return dz_bits_u16(u16_of_f64(x));
    case DZ_U32: return dz_bits_u32(u32_of_f64(x));
    case DZ_U64: return dz_bits_u64(u64_of_f64(x));
    case DZ_F16: return dz_f16_of_f64(x);
    case DZ_F32: return dz_bits_f32((f32)x);
    case DZ_F64: return dz_bits_f64(x);
    default: return x != 0;
  }
}
