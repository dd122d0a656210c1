//! From the events of the YAML parser to a tree.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::scalar::Scalar;
use crate::document::node::MAX_DEPTH;

/// The first document of a stream. Nodes refer to each other by number.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<(Content, usize)>,
    /// None in an empty stream.
    pub(super) root: Option<usize>,
}

pub(super) enum Content {
    Scalar(Scalar),
    List(Vec<usize>),
    Map(Vec<(usize, usize)>),
    Alias(usize),
}

impl Tree {
    pub(super) fn compose(text: &str) -> Result<Self, String> {
        let mut options = Options::default();
        (options.flow_nesting_limit, options.block_nesting_limit) = (MAX_DEPTH, MAX_DEPTH);
        let parser = Parser::new_from_str_with_options(text, options);
        let mut composer = Composer { parser, tree: Self::default(), anchors: HashMap::new() };
        loop {
            match composer.next()? {
                Some((Event::DocumentStart(..), _)) => break,
                Some((Event::StreamEnd, _)) | None => return Ok(composer.tree),
                Some(_) => {}
            }
        }
        composer.tree.root = composer.node(0)?;
        // Go looks for the end of the document, too.
        composer.next()?;
        Ok(composer.tree)
    }

    pub(super) fn content(&self, at: usize) -> &Content {
        &self.nodes.get(at).expect("nodes refer to nodes").0
    }

    /// The node, or that to which it refers.
    pub(super) fn resolved(&self, at: usize) -> &Content {
        match self.content(at) {
            Content::Alias(target) => self.content(*target),
            content => content,
        }
    }

    /// The line on which a node begins, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.nodes.get(at).map_or(0, |(_, line)| *line)
    }
}

struct Composer<'t> {
    parser: Parser<'t, StrInput<'t>>,
    tree: Tree,
    /// The nodes with anchors.
    anchors: HashMap<usize, usize>,
}

impl<'t> Composer<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, String> {
        self.parser.next_event().transpose().map_err(|error| explain(&error))
    }

    fn push(&mut self, content: Content, span: &Span, anchor: usize) -> usize {
        let at = self.tree.nodes.len();
        self.tree.nodes.push((content, span.start.line()));
        if anchor != 0 {
            self.anchors.insert(anchor, at);
        }
        at
    }

    fn set(&mut self, at: usize, content: Content) {
        if let Some((slot, _)) = self.tree.nodes.get_mut(at) {
            *slot = content;
        }
    }

    /// The next node; none at the end of what it would be in.
    fn node(&mut self, depth: usize) -> Result<Option<usize>, String> {
        if depth > MAX_DEPTH {
            return Err(format!("yaml: exceeded max depth of {MAX_DEPTH}"));
        }
        let (event, span) = loop {
            let Some((event, span)) = self.next()? else { return Ok(None) };
            match event {
                Event::SequenceEnd | Event::MappingEnd | Event::DocumentEnd | Event::StreamEnd => return Ok(None),
                Event::Scalar(..) | Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                    break (event, span);
                }
                // WHY: another crate may switch on the parser's comments; one between two items is no end of the list.
                _ => {}
            }
        };
        let at = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()));
                let scalar = Scalar::resolve(text.into_owned(), style == ScalarStyle::Plain, tag.as_deref())?;
                self.push(Content::Scalar(scalar), &span, anchor)
            }
            Event::Alias(anchor) => {
                let target = *self.anchors.get(&anchor).ok_or("yaml: unknown anchor referenced")?;
                self.push(Content::Alias(target), &span, 0)
            }
            Event::SequenceStart(_, anchor, _) => {
                let at = self.push(Content::List(Vec::new()), &span, anchor);
                let mut items = Vec::new();
                while let Some(item) = self.node(depth + 1)? {
                    items.push(item);
                }
                self.set(at, Content::List(items));
                at
            }
            Event::MappingStart(_, anchor, _) => {
                let at = self.push(Content::Map(Vec::new()), &span, anchor);
                let mut pairs = Vec::new();
                while let Some(key) = self.node(depth + 1)? {
                    let Some(value) = self.node(depth + 1)? else { break };
                    pairs.push((key, value));
                }
                self.set(at, Content::Map(pairs));
                at
            }
            _ => return Ok(None),
        };
        Ok(Some(at))
    }
}

/// Go says nothing about the first line, and counts the others from there.
fn explain(error: &ScanError) -> String {
    let line = error.marker().line();
    if line > 1 { format!("yaml: line {line}: {}", error.info()) } else { format!("yaml: {}", error.info()) }
}
