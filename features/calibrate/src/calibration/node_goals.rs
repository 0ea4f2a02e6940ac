//! What is promised of studies whose blocks ran on several nodes: what each promise is measured on is in [`nodes`].

use super::nodes;
use super::simulate::Reduce;
use super::task::{Task, at_least, at_most, promise, task};
use super::worlds::World;

/// Studies on 22 nodes, each of which takes long.
const fn on_nodes(task: Task) -> Task {
    task.in_worlds(&[World::Normal]).one_in(10)
}

pub(super) const TASKS: &[Task] = &[
    task(
        "nodes",
        "2 identical variants, 12 blocks on each of 22 nodes",
        COST,
        nodes::same,
        &[
            promise("nodes-false-verdict", "false difference on the whole", at_most(0.06), Reduce::Rate(0)),
            promise("nodes-unlike", "a node is called unlike the others", at_most(0.015), Reduce::Rate(1)),
            promise("nodes-noisy", "a node is called noisy", at_most(0.015), Reduce::Rate(2)),
            promise("nodes-everywhere", "a difference is claimed of every node", at_most(0.01), Reduce::Rate(3)),
        ],
    )
    .in_worlds(&[World::Normal, World::Mixed])
    .one_in(4),
    on_nodes(task(
        "nodes-apart",
        "the same, but nodes differ by ±2 % in the second variant, which cancels out",
        COST,
        nodes::apart,
        &[
            promise("nodes-apart-seen", "a node is called unlike the others", at_least(0.9), Reduce::Rate(0)),
            promise("nodes-apart-within", "…, and the whole within the margin", at_most(0.0), Reduce::Rate(1)),
            promise("nodes-apart-everywhere", "a difference is claimed of every node", at_most(0.01), Reduce::Rate(2)),
        ],
    )),
    on_nodes(task(
        "nodes-one",
        "the same, but the second variant is 3 % slower on one node",
        COST,
        nodes::one,
        &[
            promise("nodes-one-named", "the node is named", at_least(0.95), Reduce::Rate(0)),
            promise("nodes-one-other", "another node is named", at_most(0.02), Reduce::Rate(1)),
            promise("nodes-one-within", "the whole is within the margin", at_most(0.05), Reduce::Rate(2)),
        ],
    )),
    on_nodes(task(
        "nodes-noisier",
        "the same, but one node is 4 times noisier",
        COST,
        nodes::noisier,
        &[
            promise("nodes-noisier-unlike", "a node is called unlike the others", at_most(0.02), Reduce::Rate(0)),
            promise("nodes-noisier-named", "the node is called noisy", at_least(0.9), Reduce::Rate(1)),
        ],
    )),
    on_nodes(task(
        "nodes-faster",
        "the same, but the second variant is 3 % faster on every node",
        COST,
        nodes::faster,
        &[promise("nodes-faster-everywhere", "that is claimed of every node", at_least(0.9), Reduce::Rate(0))],
    )),
    on_nodes(task(
        "nodes-but-one",
        "the same, but on one node, where it is not",
        COST,
        nodes::faster_but_on_one,
        &[promise("nodes-but-one", "it is claimed of every node", at_most(0.06), Reduce::Rate(0))],
    )),
];

/// Of one study, in microseconds.
const COST: f64 = 20_000.0;
