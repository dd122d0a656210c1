//! Random schemas, and random objects for them.

use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::schema::{Choices, mutated, object, schema};
use serde_json::{Value, json};

use crate::ask::{Case, Compared, compare};

/// Cases of one question to the oracle.
const BATCH: u64 = 50;

/// What a case is drawn from; less of it is a smaller case.
#[derive(Clone)]
struct Input {
    schema: Vec<u8>,
    object: Vec<u8>,
    way: u8,
}

impl Input {
    fn new(seed: u64) -> Self {
        let length = 60 + usize::try_from(seed % 400).expect("a length");
        let bytes = |seed| Choices::seeded(seed, length).collect();
        Self {
            schema: bytes(seed.wrapping_mul(2)),
            object: bytes(seed.wrapping_mul(2) + 1),
            way: seed.to_le_bytes()[0],
        }
    }

    fn case(&self) -> Case {
        let schema = schema(&mut Choices::new(self.schema.clone()));
        let mut choices = Choices::new(self.object.clone());
        let old = object(&mut choices, &schema);
        let way = self.way % 6;
        let scale = way == 5;
        let (status, status_only, stored) = (self.way.is_multiple_of(2) || way == 3, way == 3, way == 4);
        if matches!(way, 0 | 4) {
            return Case { schema, object: old, status, stored, scale, ..Case::default() };
        }
        let mut object = mutated(&mut choices, &schema, &old);
        let mut old = old;
        for object in [&mut object, &mut old] {
            object["metadata"]["resourceVersion"] = json!("1");
            object["metadata"]["generation"] = json!(7);
        }
        Case { schema, object, old: Some(old), status, status_only, stored, scale }
    }

    /// The same with less to choose from.
    fn smaller(&self) -> Vec<Self> {
        let mut smaller = Vec::new();
        for part in [2, 4, 8, 16, 32, 64] {
            for index in 0..part {
                for first in [true, false] {
                    let mut input = self.clone();
                    let bytes = if first { &mut input.schema } else { &mut input.object };
                    let (from, to) = (bytes.len() * index / part, bytes.len() * (index + 1) / part);
                    if from < to {
                        bytes.drain(from..to);
                        smaller.push(input);
                    }
                }
            }
        }
        smaller
    }
}

fn differs(compared: &Compared) -> bool {
    compared.ours != compared.theirs
}

/// The smallest case found that still differs.
fn shrunk(oracle: &mut Oracle, mut input: Input) -> anyhow::Result<Input> {
    for _ in 0..60 {
        let smaller = input.smaller();
        let mut found = None;
        for inputs in smaller.chunks(50) {
            let cases: Vec<Case> = inputs.iter().map(Input::case).collect();
            let compared = compare(oracle, &cases)?;
            found =
                inputs.iter().zip(&compared).find(|(_, compared)| differs(compared)).map(|(input, _)| input.clone());
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(smaller) => input = smaller,
            None => break,
        }
    }
    Ok(input)
}

#[test]
fn objects_fare_as_in_kubernetes() -> anyhow::Result<()> {
    let Some(mut oracle) = Oracle::start("custom resources")? else { return Ok(()) };
    let number = |name: &str| std::env::var(name).ok().and_then(|cases| cases.parse::<u64>().ok());
    let wanted = number("ROLEWRIGHT_CUSTOM_CASES").unwrap_or(20_000);
    let seed = number("PROPTEST_RNG_SEED").unwrap_or(1).wrapping_mul(1 << 32);
    let (mut structural, mut valid, mut refused) = (0, 0, 0);
    for batch in 0..wanted / BATCH {
        let inputs: Vec<Input> = (0..BATCH).map(|index| Input::new(seed + batch * BATCH + index)).collect();
        let cases: Vec<Case> = inputs.iter().map(Input::case).collect();
        for (input, compared) in inputs.iter().zip(compare(&mut oracle, &cases)?) {
            structural += usize::from(compared.structural);
            valid += usize::from(compared.theirs.refusal.is_none() && compared.theirs.errors.is_empty());
            refused += usize::from(compared.theirs.refusal.is_some());
            if differs(&compared) {
                let first = compared.difference(&input.case()).unwrap_or_default();
                let case = shrunk(&mut oracle, input.clone())?.case();
                let compared = compare(&mut oracle, std::slice::from_ref(&case))?;
                let compared = compared.first().expect("one case has one result");
                anyhow::bail!("{}", compared.difference(&case).unwrap_or(first));
            }
        }
    }
    println!("{wanted} cases: {structural} with structural schemas, {valid} valid, {refused} refused at decoding");
    Ok(())
}

#[test]
fn most_cases_mean_something() {
    let mut fields = 0;
    for seed in 0..200 {
        let schema = schema(&mut Choices::seeded(seed, 300));
        let object = object(&mut Choices::seeded(seed, 300), &schema);
        fields += usize::from(object.get("spec").is_some_and(|spec| !matches!(spec, Value::Null)));
    }
    assert!(fields > 100, "{fields} of 200 objects have a spec");
}
