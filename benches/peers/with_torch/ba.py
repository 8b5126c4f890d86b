"""BA of ADBench: benches/papers/ba.fut says what it is. Every error depends on its own row of the gathered parameters alone, so
two gradients of sums give all rows."""

import torch


def rotate(rotation, point):
    squared = (rotation * rotation).sum(1, keepdim=True)
    angle = torch.sqrt(torch.where(squared == 0, 1.0, squared))
    axis, cosine, sine = rotation / angle, torch.cos(angle), torch.sin(angle)
    along = (axis * point).sum(1, keepdim=True) * (1 - cosine)
    turned = cosine * point + sine * torch.linalg.cross(axis, point) + along * axis
    return torch.where(squared == 0, point + torch.linalg.cross(rotation, point), turned)


def project(cameras, points):
    seen = rotate(cameras[:, :3], points - cameras[:, 3:6])
    flat = seen[:, :2] / seen[:, 2:]
    squared = (flat * flat).sum(1, keepdim=True)
    return cameras[:, 7:9] + cameras[:, 6:7] * (1 + cameras[:, 9:10] * squared + cameras[:, 10:] * squared * squared) * flat


def residuals(cameras, points, weights, features):
    return weights[:, None] * (project(cameras, points) - features)


def objective(cameras, points, weights, observations, features):
    errors = residuals(cameras[observations[:, 0]], points[observations[:, 1]], weights, features)
    return errors, 1 - weights * weights


def derivative(cameras, points, weights, observations, features):
    n, m, p = len(cameras), len(points), len(weights)
    gathered = [cameras[observations[:, 0]].requires_grad_(), points[observations[:, 1]].requires_grad_(),
                weights.detach().requires_grad_()]
    errors = residuals(*gathered, features).sum(0)
    halves = [torch.autograd.grad(error, gathered, retain_graph=True) for error in errors]
    blocks = torch.stack([torch.cat([camera, point, weight[:, None]], 1) for camera, point, weight in halves], 1)
    own_weight = weights.detach().requires_grad_()
    (by_weight,) = torch.autograd.grad((1 - own_weight * own_weight).sum(), own_weight)
    kind = observations.dtype
    own = 11 * n + 3 * m + torch.arange(p, dtype=kind)
    row = torch.cat([11 * observations[:, :1] + torch.arange(11, dtype=kind),
                     11 * n + 3 * observations[:, 1:] + torch.arange(3, dtype=kind), own[:, None]], 1)
    columns = torch.cat([row.repeat_interleave(2, 0).ravel(), own])
    starts = torch.cat([15 * torch.arange(2 * p, dtype=kind), 30 * p + torch.arange(p + 1, dtype=kind)])
    return starts, columns, torch.cat([blocks.ravel(), by_weight])
