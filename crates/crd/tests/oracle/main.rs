#![cfg(test)]
//! What schemas make of objects, here and in Kubernetes' own Go code. Not one result, and not one word, may differ.
//!
//! Where Kubernetes walks over a map its errors come in any order, so they are compared sorted.
//! `ROLEWRIGHT_CUSTOM_CASES` sets how many random cases are compared.
#![expect(clippy::print_stdout, reason = "what was covered is printed")]

mod ask;
mod random;
mod table;
