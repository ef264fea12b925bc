"""torch.autograd.grad and backward for fake tensors.

torch's engine asks a driver for its devices, which a guest does not have. So this module walks through the graph that autograd
recorded, in the engine's order, and calls its nodes one by one. What they compute is recorded as any other operator is.
"""

import torch


def as_tuple(value):
    return (value,) if isinstance(value, torch.Tensor) else tuple(value)


def edge_of(tensor):
    """Returns the node and the index among its inputs that stand for a tensor."""
    return torch.autograd.graph.get_gradient_edge(tensor)


def first_gradient(output, gradient):
    if gradient is not None:
        return gradient
    if output.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return torch.ones_like(output)


def users_of(roots):
    """Returns the nodes that lead to each node that the roots reach, once for each edge."""
    users, left, seen = {}, list(roots), set(roots)
    while left:
        user = left.pop()
        for node, _ in user.next_functions:
            if node is not None:
                users.setdefault(node, []).append(user)
                if node not in seen:
                    seen.add(node)
                    left.append(node)
    return users


def ancestors(nodes, users):
    """Returns all nodes that lead to one of these."""
    found, left = set(), list(nodes)
    while left:
        for user in users.get(left.pop(), ()):
            if user not in found:
                found.add(user)
                left.append(user)
    return found


def fitted(gradient, node, index):
    """Returns a gradient in the shape and type of the tensor that it is for, as the engine does."""
    form = node._input_metadata[index]
    if tuple(gradient.shape) != tuple(form.shape):
        gradient = gradient.sum_to_size(form.shape)
    return gradient if gradient.dtype == form.dtype else gradient.to(form.dtype)


def gradients(outputs, output_gradients, wanted):
    """Returns the gradient for each edge in `wanted` that the outputs depend on. If `wanted` is None, leaves get theirs."""
    pending, found = {}, {}  # node -> the gradient for each of its inputs

    def give(node, index, gradient):
        gradient, table = fitted(gradient, node, index), pending.setdefault(node, {})
        table[index] = table[index] + gradient if index in table else gradient

    for output, gradient in zip(outputs, output_gradients):
        edge = edge_of(output)
        give(edge.node, edge.output_nr, first_gradient(output, gradient))
    users = users_of(pending)
    needed = None if wanted is None else ancestors([edge.node for edge in wanted], users)
    waits = {node: len(each) for node, each in users.items()}
    ready = [node for node in pending if node not in waits]
    while ready:
        node = ready.pop()
        given = pending.pop(node, {})
        found.update({(node, index): gradient for index, gradient in given.items()})
        made = called(node, given) if given and (needed is None or node in needed) else ()
        for k, (following, index) in enumerate(node.next_functions):
            if following is not None:
                if k < len(made) and made[k] is not None:
                    give(following, index, made[k])
                waits[following] -= 1
                if not waits[following]:
                    ready.append(following)
    return found


def called(node, given):
    """Returns what a node computes from the gradients for its inputs."""
    if hasattr(node, "variable"):  # a leaf
        leaf, gradient = node.variable, given[0]
        leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient
        return ()
    arguments = [given.get(index) for index in range(len(node._input_metadata))]
    if not isinstance(node, torch.autograd.function.BackwardCFunction):
        made = node(*arguments)
        return (made,) if made is None or isinstance(made, torch.Tensor) else tuple(made)
    made = node.apply(*arguments)
    made = made if isinstance(made, tuple) else (made,)
    # A backward of the file's own returns something for each argument of forward, and edges exist for tensors alone.
    wanted = iter([gradient for gradient, needed in zip(made, node.needs_input_grad) if needed])
    return tuple(None if following is None else next(wanted, None) for following, _ in node.next_functions)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    """Replaces torch.autograd.grad."""
    outputs, inputs = as_tuple(outputs), as_tuple(inputs)
    given = as_tuple(grad_outputs) if grad_outputs is not None else [None] * len(outputs)
    edges = [edge_of(tensor) for tensor in inputs]
    with torch.set_grad_enabled(create_graph):
        found = gradients(outputs, given, edges)
        answer = [found.get((edge.node, edge.output_nr)) for edge in edges]
        if materialize_grads:
            answer = [torch.zeros_like(tensor) if one is None else one for tensor, one in zip(inputs, answer)]
    if not (allow_unused or materialize_grads) and any(one is None for one in answer):
        raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
                           "if this is the desired behavior.")
    return tuple(answer)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Replaces torch.autograd.backward."""
    tensors = as_tuple(tensors)
    given = as_tuple(grad_tensors) if grad_tensors is not None else [None] * len(tensors)
    with torch.set_grad_enabled(create_graph):
        if inputs is None:
            gradients(tensors, given, None)
            return
        for leaf, gradient in zip(as_tuple(inputs), grad(tensors, inputs, given, allow_unused=True)):
            leaf.grad = gradient if leaf.grad is None or gradient is None else leaf.grad + gradient


def install():
    torch.autograd.grad, torch.autograd.backward = grad, backward
