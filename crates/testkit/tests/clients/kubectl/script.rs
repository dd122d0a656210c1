//! A file of commands, as it is written down.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Commands that run in order.
#[derive(Debug)]
pub(super) struct Script {
    /// The file's name without its ending.
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug)]
pub(super) enum Step {
    File { name: String, text: String },
    Command(Command),
}

/// One run of kubectl, and what is done with what it prints.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) title: String,
    pub(super) exit: i32,
    pub(super) line: String,
    pub(super) input: String,
    pub(super) editor: Option<String>,
    pub(super) capture: Option<String>,
    /// Repeated until the exit code is right and this is printed.
    pub(super) wait: Option<String>,
    pub(super) any_order: bool,
    pub(super) fields_only: bool,
    /// What is printed is JSON, whose order means nothing.
    pub(super) json: bool,
    /// Lines with these texts are not compared.
    pub(super) dropped: Vec<String>,
}

impl Script {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let name = file.file_stem().and_then(|name| name.to_str()).context("the file has a name")?;
        let text = std::fs::read_to_string(file)?;
        Self::parse(name, &text).with_context(|| file.display().to_string())
    }

    fn parse(name: &str, text: &str) -> Result<Self> {
        let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("### ") {
                sections.push((title, Vec::new()));
            } else if let Some((_, lines)) = sections.last_mut() {
                lines.push(line);
            }
        }
        let steps = sections.into_iter().map(|(title, lines)| {
            if let Some(name) = title.strip_prefix("file ") {
                return Ok(Step::File { name: name.to_owned(), text: block(&lines) });
            }
            Command::parse(title, &lines).map(Step::Command).with_context(|| format!("`{title}`"))
        });
        Ok(Self { name: name.to_owned(), steps: steps.collect::<Result<_>>()? })
    }

    pub(super) fn commands(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Command(_))).count()
    }
}

impl Command {
    fn parse(title: &str, lines: &[&str]) -> Result<Self> {
        let (title, exit) = title.rsplit_once(" -> ").context("the title promises no exit code")?;
        let mut command = Self { title: title.to_owned(), exit: exit.parse()?, ..Self::default() };
        let mut lines = lines.iter();
        for line in lines.by_ref() {
            let Some(directive) = line.strip_prefix("# ") else {
                command.line = line.strip_prefix("kubectl ").context("the command is kubectl's")?.to_owned();
                break;
            };
            let (name, value) = directive.split_once(": ").unwrap_or((directive, ""));
            match name {
                "editor" => command.editor = Some(value.to_owned()),
                "capture" => command.capture = Some(value.to_owned()),
                "wait" => command.wait = Some(value.to_owned()),
                "any order" => command.any_order = true,
                "json" => command.json = true,
                "fields" => command.fields_only = true,
                "drop" => {
                    let (text, _) = value.split_once(" because ").context("nothing is dropped without a reason")?;
                    command.dropped.push(text.to_owned());
                }
                _ => bail!("unknown directive `{name}`"),
            }
        }
        ensure!(!command.line.is_empty(), "no command");
        command.input = block(&lines.copied().collect::<Vec<_>>());
        Ok(command)
    }
}

/// Lines without the empty ones around them.
fn block(lines: &[&str]) -> String {
    let text = lines.join("\n");
    let text = text.trim_matches('\n');
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

/// The words of a command line: quotes of both kinds keep words together.
pub(super) fn words(line: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    ensure!(quote.is_none(), "an open quote in `{line}`");
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_have_words() {
        let found = words(r#"get a -o jsonpath='{.a "b"}' "" "it's" "#).unwrap();
        assert_eq!(found, ["get", "a", "-o", "jsonpath={.a \"b\"}", "", "it's"]);
        assert!(words("get 'a").is_err());
    }

    #[test]
    fn scripts_have_files_and_commands() {
        let text = "about\n\n### file a.yaml\na: b\n\n### it works -> 1\n# wait: x\n# drop: y because z\nkubectl get a\n\nin\n";
        let script = Script::parse("s", text).unwrap();
        let [Step::File { name, text }, Step::Command(command)] = script.steps.as_slice() else { panic!("{script:?}") };
        assert_eq!((name.as_str(), text.as_str()), ("a.yaml", "a: b\n"));
        let command = (command.exit, command.line.as_str(), command.input.as_str(), &command.dropped);
        assert_eq!(command, (1, "get a", "in\n", &vec!["y".to_owned()]));
        for bad in
            ["### a\nkubectl x", "### a -> 0\n# odd\nkubectl x", "### a -> 0\n# drop: x\nkubectl x", "### a -> 0\n"]
        {
            assert!(Script::parse("s", bad).is_err(), "{bad}");
        }
    }
}
