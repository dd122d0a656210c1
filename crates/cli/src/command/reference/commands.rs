//! Every command with its flags, as a page and as a manual.

use std::fmt::Write as _;

use anyhow::Result;
use clap::{Arg, ArgAction, Command};

use super::{head, row};

pub(super) fn page(command: &Command) -> String {
    let mut page = "# Commands\n\nExit codes: 0 done, or the answer is yes; 1 the answer is no, or something was found; 2 \
                    the command cannot be understood; 3 not everything could be read; 4 failed. Data is on stdout, everything \
                    else on stderr. Colour is for terminals; `NO_COLOR` switches it off.\n"
        .to_owned();
    each(command, "", &mut |command, path| describe(command, path, &mut page));
    page
}

/// The manual: one file for each command.
pub(super) fn manual(command: &Command) -> Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    each(command, "", &mut |command, path| pages.push((path.replace(' ', "-"), command.clone())));
    pages.insert(0, ("rolewright".to_owned(), command.clone().disable_help_subcommand(true)));
    let mut files = Vec::new();
    for (name, command) in pages {
        let named = command.display_name(name.clone()).bin_name(name.replace('-', " "));
        let mut text = Vec::new();
        let man = clap_mangen::Man::new(named).title(name.to_uppercase()).date("").manual("rolewright");
        man.source(concat!("rolewright ", env!("CARGO_PKG_VERSION"))).render(&mut text)?;
        // Spaces at the ends of lines mean nothing to a reader of manuals.
        let text: Vec<&str> = std::str::from_utf8(&text)?.lines().map(str::trim_end).collect();
        // A date that is left out would move what follows into its place.
        let head = format!(".TH {} 1 ", name.to_uppercase());
        let text: Vec<String> =
            text.iter().map(|line| line.replace(&format!("{head} "), &format!("{head}\"\" "))).collect();
        files.push((format!("docs/man/{name}.1"), text.join("\n") + "\n"));
    }
    Ok(files)
}

/// Every command that is shown, with the words that it is called by.
fn each(command: &Command, above: &str, then: &mut impl FnMut(&Command, &str)) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help") {
        let path = if above.is_empty() {
            format!("rolewright {}", below.get_name())
        } else {
            format!("{above} {}", below.get_name())
        };
        then(below, &path);
        each(below, &path, then);
    }
}

fn describe(command: &Command, path: &str, page: &mut String) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    // Writing to a `String` cannot fail.
    let _ = write!(page, "\n## {path}\n\n{}\n", sentence(&about));
    let mut args: Vec<&Arg> =
        command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help").collect();
    args.sort_by_key(|arg| (!arg.is_positional(), arg.get_help_heading().unwrap_or_default().to_owned()));
    for run in
        args.chunk_by(|a, b| a.is_positional() == b.is_positional() && a.get_help_heading() == b.get_help_heading())
    {
        if let Some(heading) = run.first().and_then(|arg| arg.get_help_heading()) {
            let _ = write!(page, "\n**{heading}**\n");
        }
        page.push('\n');
        page.push_str(&head(&["flag", "what it does", "default"]));
        for arg in run {
            page.push_str(&row(&[&spelling(arg), &meaning(arg), &default(arg)]));
        }
    }
}

/// `` `-o`, `--output FORMAT` ``
fn spelling(arg: &Arg) -> String {
    let values: Vec<String> = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let value = if arg.get_action().takes_values() { values.join(" ") } else { String::new() };
    if arg.is_positional() {
        return format!("`{value}`");
    }
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    let value = if value.is_empty() { String::new() } else { format!(" {value}") };
    let long = arg.get_long().map(|long| format!("`--{long}{value}`"));
    [short, long].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = sentence(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    let values = if matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        arg.get_possible_values()
    } else {
        Vec::new()
    };
    for value in values.iter().filter(|value| !value.is_hide_set()) {
        let help = value.get_help().map(|help| format!(": {help}")).unwrap_or_default();
        let _ = write!(text, "<br>`{}`{help}", value.get_name());
    }
    if let Some(variable) = arg.get_env() {
        let _ = write!(text, "<br>or the variable `{}`", variable.display());
    }
    text
}

fn default(arg: &Arg) -> String {
    let values: Vec<String> = arg.get_default_values().iter().map(|value| value.display().to_string()).collect();
    if values.is_empty() || !arg.get_action().takes_values() {
        String::new()
    } else {
        format!("`{}`", values.join(","))
    }
}

/// Help has no full stop where it is one sentence; prose has.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', ']', ')']) { text.to_owned() } else { format!("{text}.") }
}
