//! A file of exchanges, as it is written down.

use std::fmt::{Display, Formatter};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Requests that are sent in order.
#[derive(Debug)]
pub(crate) struct Script {
    /// The file's name without its ending. It is also the name of the namespace that the script runs in.
    pub(crate) name: String,
    pub(crate) exchanges: Vec<Exchange>,
}

/// One request and what is done with its answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) title: String,
    /// The status that the title promises, 0 if it does not say yet; Kubernetes has to keep it. Requests that nobody wrote
    /// down promise nothing.
    pub(crate) status: Option<u16>,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) directives: Directives,
}

/// The lines between a title and its request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directives {
    /// Headers that stand for `as`, `groups`, `token`.
    pub(crate) identity: Vec<(String, String)>,
    /// Sent without credentials.
    pub(crate) anonymous: bool,
    /// The answer is a stream that stays open under this name.
    pub(crate) watch: Option<String>,
    /// The request is repeated until this holds.
    pub(crate) wait: Option<String>,
    /// Name and path of what later requests need.
    pub(crate) captures: Vec<(String, String)>,
    /// The same, but where there is nothing, what was captured before stays.
    pub(crate) captures_if_there: Vec<(String, String)>,
    /// Paths that are not compared, each with its reason.
    pub(crate) ignored: Vec<String>,
    /// Of discovery, only what both serve is compared.
    pub(crate) served_only: bool,
    /// The body is written in base64.
    pub(crate) base64: bool,
}

impl Script {
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let name = file.file_stem().and_then(|name| name.to_str()).context("the file has a name")?;
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        Self::parse(name, &text).with_context(|| file.display().to_string())
    }

    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let mut sections: Vec<(String, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("### ") {
                sections.push((title.to_owned(), Vec::new()));
            } else if let Some((_, lines)) = sections.last_mut() {
                lines.push(line);
            }
        }
        let mut exchanges: Vec<Exchange> = Vec::new();
        for (title, lines) in sections {
            let exchange = Exchange::parse(&title, &lines).with_context(|| format!("`{title}`"))?;
            let taken = exchanges.iter().any(|other| other.title == exchange.title);
            ensure!(!taken, "two exchanges are called `{}`", exchange.title);
            exchanges.push(exchange);
        }
        Ok(Self { name: name.to_owned(), exchanges })
    }
}

impl Exchange {
    fn parse(title: &str, lines: &[&str]) -> Result<Self> {
        let (title, status) = match title.rsplit_once(" -> ") {
            Some((title, status)) => (title, Some(status.trim().parse().context("the status is a number")?)),
            None => (title, Some(0)),
        };
        let mut exchange = Self { title: title.to_owned(), status, ..Self::default() };
        let mut lines = lines.iter();
        let request = loop {
            let line = lines.next().context("there is no request")?;
            match line.strip_prefix('#') {
                Some(directive) => exchange.directives.add(directive.trim())?,
                None if line.is_empty() => {}
                None => break line,
            }
        };
        let (method, target) = request.split_once(' ').context("the request line is `METHOD /path`")?;
        (exchange.method, exchange.target) = (method.to_owned(), target.to_owned());
        for line in lines.by_ref() {
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').with_context(|| format!("`{line}` is no header"))?;
            exchange.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let body: Vec<&str> = lines.copied().collect();
        body.join("\n").trim_end().clone_into(&mut exchange.body);
        Ok(exchange)
    }
}

/// As a script would have it.
impl Display for Exchange {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(out, "### {}", self.title)?;
        for (name, path) in &self.directives.captures {
            writeln!(out, "# capture: {name} = {path}")?;
        }
        for (name, path) in &self.directives.captures_if_there {
            writeln!(out, "# capture if there: {name} = {path}")?;
        }
        if let Some(condition) = &self.directives.wait {
            writeln!(out, "# wait: {condition}")?;
        }
        writeln!(out, "{} {}", self.method, self.target)?;
        for (name, value) in self.headers.iter().chain(&self.directives.identity) {
            writeln!(out, "{name}: {value}")?;
        }
        if self.body.is_empty() { Ok(()) } else { writeln!(out, "\n{}", self.body) }
    }
}

impl Directives {
    fn add(&mut self, line: &str) -> Result<()> {
        let (key, value) = line.split_once(':').map_or((line, ""), |(key, value)| (key, value.trim()));
        match key {
            "as" => self.identity.push(("Impersonate-User".into(), value.into())),
            "groups" => {
                let groups = value.split(',').map(|group| ("Impersonate-Group".into(), group.trim().into()));
                self.identity.extend(groups);
            }
            "token" => self.identity.push(("Authorization".into(), format!("Bearer {value}"))),
            "anonymous" => self.anonymous = true,
            "watch" => self.watch = Some(value.into()),
            "wait" => self.wait = Some(value.into()),
            "capture" | "capture if there" => {
                let (name, path) = value.split_once(" = ").context("`# capture: NAME = PATH`")?;
                let captures = if key == "capture" { &mut self.captures } else { &mut self.captures_if_there };
                captures.push((name.into(), path.into()));
            }
            "ignore" => {
                let (path, reason) = value.split_once(" because ").context("`# ignore: PATH because REASON`")?;
                ensure!(!reason.is_empty(), "what is ignored has a reason");
                self.ignored.push(path.into());
            }
            "served only" => self.served_only = true,
            "base64" => self.base64 = true,
            _ => bail!("`# {line}` is no directive"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
A preamble.

### creates -> 201
# as: alice
# groups: devs, ops
# capture: rv = .metadata.resourceVersion
POST /api/v1/x?a=b
Accept: application/json

{\"a\": 1,

 \"b\": 2}

### reads
GET /api/v1/x
";

    #[test]
    fn a_script_reads_like_http() {
        let script = Script::parse("demo", TEXT).unwrap();
        let [creates, reads] = &script.exchanges[..] else { panic!("{script:?}") };
        assert_eq!((creates.title.as_str(), creates.status), ("creates", Some(201)));
        assert_eq!((creates.method.as_str(), creates.target.as_str()), ("POST", "/api/v1/x?a=b"));
        assert_eq!(creates.headers, [("Accept".to_owned(), "application/json".to_owned())]);
        assert_eq!(creates.body, "{\"a\": 1,\n\n \"b\": 2}");
        assert_eq!(creates.directives.identity.len(), 3);
        assert_eq!(creates.directives.captures, [("rv".to_owned(), ".metadata.resourceVersion".to_owned())]);
        assert_eq!((reads.title.as_str(), reads.status, reads.body.as_str()), ("reads", Some(0), ""));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for text in [
            "### a\n",
            "### a -> x\nGET /\n",
            "### a\n# asof: bob\nGET /\n",
            "### a\n# ignore: .x\nGET /\n",
            "### a\nGET /\n### a\nGET /\n",
        ] {
            assert!(Script::parse("demo", text).is_err(), "{text}");
        }
    }
}
