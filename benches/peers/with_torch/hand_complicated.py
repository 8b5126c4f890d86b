"""HAND of ADBench, complicated: benches/papers/hand_complicated.fut says what it is."""

import importlib.util
from pathlib import Path

import torch
from torch.func import jvp, vmap

spec = importlib.util.spec_from_file_location("hand_simple", Path(__file__).with_name("hand_simple.py"))
hand = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hand)



def objective(parents, base_relatives, inverse_base_absolutes, weights, base_positions, triangles, is_mirrored, correspondences,
              points, theta, us):
    positions = hand.skin(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, theta)
    corners = positions[:, triangles[correspondences]]
    shares = torch.cat([us, 1 - us.sum(1, keepdim=True)], 1)
    return points - torch.einsum("inc,nc->ni", corners, shares)


def derivative(*arguments):
    *others, theta, us = arguments
    by_theta = vmap(lambda direction: jvp(lambda theta: objective(*others, theta, us), (theta,), (direction,))[1])
    directions = torch.eye(2)[:, None].expand(2, len(us), 2)
    by_u = vmap(lambda direction: jvp(lambda us: objective(*others, theta, us), (us,), (direction,))[1])
    return torch.cat([by_u(directions), by_theta(torch.eye(len(theta)))])
