"""D-LSTM of ADBench: benches/papers/dlstm.fut says what it is."""

import torch


def step(main, extra, state, input):
    x, after = input * extra[0], []
    for (weight, bias), (hidden, cell) in zip(main, state):
        forget, outgate = torch.sigmoid(x * weight[0::2] + bias[0::2])
        ingate = torch.sigmoid(hidden * weight[1] + bias[1])
        change = torch.tanh(hidden * weight[3] + bias[3])
        cell = cell * forget + ingate * change
        x = outgate * torch.tanh(cell)
        after.append((x, cell))
    return after, x * extra[1] + extra[2]


def objective(main, extra, state, sequence):
    layers, state, outputs = [layer.unbind() for layer in main.unbind()], [layer.unbind() for layer in state.unbind()], []
    for input in sequence[:-1].unbind():
        state, output = step(layers, extra, state, input)
        outputs.append(output)
    predictions = torch.stack(outputs)
    normalisers = torch.log(2 + predictions.exp().sum(1, keepdim=True))
    return -(sequence[1:] * (predictions - normalisers)).mean()


def derivative(main, extra, state, sequence):
    parameters = [parameter.detach().requires_grad_() for parameter in (main, extra)]
    return torch.autograd.grad(objective(*parameters, state, sequence), parameters)
