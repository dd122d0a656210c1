#![cfg(test)]
//! Definitions as the server prepares and judges them, and as the strategies of Kubernetes' own registry do.

mod base;
mod compare;
mod table;

use compare::{Item, compare_all};

#[test]
fn every_rule_answers_as_kubernetes_does() {
    let items: Vec<Item> = table::items();
    println!("{} writes of definitions", items.len());
    compare_all("definitions_table", &items);
}
