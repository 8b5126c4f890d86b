"""A layer of long short-term memory over sequences in batches, with a linear layer behind it: PyTorch's own layer."""

import torch


def objective(inputs, targets, w_input, w_hidden, bias, w_output, output_bias):
    layer = torch.nn.LSTM(inputs.shape[2], w_hidden.shape[1])
    weights = {"weight_ih_l0": w_input, "weight_hh_l0": w_hidden, "bias_ih_l0": bias, "bias_hh_l0": torch.zeros_like(bias)}
    hidden, _ = torch.func.functional_call(layer, weights, (inputs,))
    return ((hidden @ w_output + output_bias - targets) ** 2).mean()


def derivative(inputs, targets, *weights):
    weights = [w.detach().requires_grad_() for w in weights]
    return torch.autograd.grad(objective(inputs, targets, *weights), weights)
