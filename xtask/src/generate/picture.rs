//! A picture of a terminal, out of what a terminal showed.

use std::fmt::Write as _;

use anyhow::Result;

use super::Output;
use crate::repository::Repository;

/// What a test recorded, and where its picture belongs.
const PICTURES: [(&str, &str); 1] = [("crates/cli/tests/process/screens/up-80.ansi", "docs/up.svg")];

/// What the README tells to type.
const COMMAND: &str = "cargo run --release -- up";

const LETTER: f64 = 8.4;
const LINE: f64 = 18.0;
const MARGIN: f64 = 16.0;

pub(super) fn pictures(repository: &Repository) -> Result<Vec<Output>> {
    let picture = |(from, to): (&str, &str)| -> Result<Output> {
        let shown = format!("$ {COMMAND}\n{}", repository.read(from)?);
        Ok(Output { path: to.to_owned(), contents: draw("rolewright up", &shown) })
    };
    PICTURES.into_iter().map(picture).collect()
}

/// Text with colours, as one would see it.
fn draw(title: &str, text: &str) -> String {
    let mut class = None;
    let lines: Vec<Vec<Piece>> = text.lines().map(|line| pieces(line, &mut class)).collect();
    let widest = lines.iter().map(|line| line.iter().map(|piece| piece.text.chars().count()).sum::<usize>()).max();
    let (columns, rows) = (as_float(widest.unwrap_or(0).max(80)), as_float(lines.len()));
    let (width, height) = (columns * LETTER + 2.0 * MARGIN, (rows + 2.0) * LINE + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" xml:space=\"preserve\" role=\"img\" aria-label=\"{title}\">\n\
         <style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre}}\
         .b{{font-weight:bold;fill:#fff}}.d{{fill:#7d8799}}.r{{fill:#ff7b72}}.g{{fill:#7ee787}}.y{{fill:#e3b341}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#161b22\"/>\n"
    );
    for (index, color) in ["#ff5f57", "#febc2e", "#28c840"].into_iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.0}\" cy=\"16\" r=\"5\" fill=\"{color}\"/>",
            MARGIN + 5.0 + 16.0 * as_float(index)
        );
    }
    for (row, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let _ = write!(svg, "<text x=\"{MARGIN:.0}\" y=\"{:.0}\">", (as_float(row) + 2.0) * LINE + 10.0);
        for Piece { class, text } in line {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = match class {
                Some(class) => write!(svg, "<tspan class=\"{class}\">{text}</tspan>"),
                None => write!(svg, "{text}"),
            };
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

#[derive(Debug, PartialEq, Eq)]
struct Piece {
    class: Option<char>,
    text: String,
}

/// A line in pieces of one colour each. A colour goes on in the next line until another comes.
fn pieces(line: &str, class: &mut Option<char>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m').filter(|_| index > 0) {
            Some((code, text)) => {
                *class = match code {
                    "1" => Some('b'),
                    "2" => Some('d'),
                    "31" => Some('r'),
                    "32" => Some('g'),
                    "33" => Some('y'),
                    _ => None,
                };
                text
            }
            None => part,
        };
        if !text.is_empty() {
            pieces.push(Piece { class: *class, text: text.to_owned() });
        }
    }
    pieces
}

#[expect(clippy::cast_precision_loss, reason = "rows and columns of a terminal")]
fn as_float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_classes_and_signs_are_escaped() {
        let found = pieces("a \u{1b}[1mb\u{1b}[0m\u{1b}[31m<c>\u{1b}[0m", &mut None);
        let piece = |class, text: &str| Piece { class, text: text.to_owned() };
        assert_eq!(found, [piece(None, "a "), piece(Some('b'), "b"), piece(Some('r'), "<c>")]);
        let svg = draw("t", "\u{1b}[31m<c>\u{1b}[0m");
        assert!(svg.contains("<tspan class=\"r\">&lt;c&gt;</tspan>"), "{svg}");
        let svg = draw("t", "\u{1b}[33ma \\\n  b\u{1b}[0m\nc");
        assert!(svg.contains("<tspan class=\"y\">  b</tspan>") && svg.contains("\">c</text>"), "{svg}");
    }
}
