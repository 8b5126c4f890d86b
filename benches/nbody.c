#include <math.h>
#include <stdint.h>

void bench(float dt, const float *restrict xs, const float *restrict ys, const float *restrict zs,
           const float *restrict ms, const float *restrict us, const float *restrict vs, const float *restrict ws,
           int64_t n, float *restrict nx, float *restrict ny, float *restrict nz, float *restrict nu,
           float *restrict nv, float *restrict nw) {
  for (int64_t i = 0; i < n; i++) {
    float ax = 0, ay = 0, az = 0, x = xs[i], y = ys[i], z = zs[i];
#pragma omp simd reduction(+ : ax, ay, az)
    for (int64_t j = 0; j < n; j++) {
      float dx = xs[j] - x, dy = ys[j] - y, dz = zs[j] - z;
      float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.0001f);
      float s = ms[j] * inverse * inverse * inverse;
      ax += s * dx;
      ay += s * dy;
      az += s * dz;
    }
    nu[i] = us[i] + dt * ax;
    nv[i] = vs[i] + dt * ay;
    nw[i] = ws[i] + dt * az;
    nx[i] = x + dt * nu[i];
    ny[i] = y + dt * nv[i];
    nz[i] = z + dt * nw[i];
  }
}
