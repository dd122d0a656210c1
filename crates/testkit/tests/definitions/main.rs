#![cfg(test)]
//! Definitions as the server prepares and judges them, and as the strategies of Kubernetes' own registry do.

mod base;
mod columns;
mod compare;
mod hostile;
mod naming;
mod peers;
mod random;
mod table;

use compare::{Item, compare_all};

#[test]
fn every_rule_answers_as_kubernetes_does() {
    let items: Vec<Item> = table::items();
    assert!(items.len() > 1_800);
    compare_all("definitions_table", &items);
}

#[test]
fn random_definitions_are_judged_as_kubernetes_does() {
    let count = std::env::var("ROLEWRIGHT_ORACLE_DECISIONS").map_or(50_000, |count| count.parse::<u64>().unwrap()) / 10;
    let start = std::env::var("PROPTEST_RNG_SEED").map_or(1, |seed| seed.parse::<u64>().unwrap());
    let items: Vec<Item> = (0..count).map(|i| random::item(start.wrapping_mul(1_000_003).wrapping_add(i))).collect();
    compare_all("definitions_random", &items);
}
