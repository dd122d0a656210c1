//! Where manifests are kept: files, folders, standard input, and revisions of a git repository.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Manifest, Problem, read};

/// Reads files, the files of folders (with `recursive`, of folders within them as well), and `-` for standard input.
/// All problems of all files are told.
pub fn read_paths(paths: &[PathBuf], recursive: bool) -> Result<Vec<Manifest>, Vec<Problem>> {
    let mut manifests = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        match files(path, recursive) {
            Ok(files) => {
                let read = files.iter().map(|file| read_file(file));
                gather(read, &mut manifests, &mut problems);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(manifests) } else { Err(problems) }
}

/// Reads the manifests that a revision of the repository around `folder` has under `path`.
pub fn read_git(folder: &Path, revision: &str, path: &str) -> Result<Vec<Manifest>, Vec<Problem>> {
    let name = format!("git:{revision}:{path}");
    let failed = |message: String| vec![Problem::of_file(&name, message)];
    if revision.is_empty() || revision.starts_with('-') {
        return Err(failed("this names no revision".to_owned()));
    }
    let git = |arguments: &[&str]| -> Result<Vec<u8>, String> {
        let output = Command::new("git").args(arguments).current_dir(folder).output();
        let output = output.map_err(|error| format!("cannot run git: {error}"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(words.lines().next().unwrap_or("git failed").trim_start_matches("fatal: ").to_owned())
    };
    let path = if path.is_empty() { "." } else { path };
    let listed = git(&["ls-tree", "-r", "-z", "--name-only", revision, "--", path]).map_err(failed)?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let files: Vec<&str> =
        listed.split('\0').filter(|file| is_manifest(Path::new(file)) || (*file == path && !file.is_empty())).collect();
    if files.is_empty() {
        return Err(failed("there are no manifests".to_owned()));
    }
    let mut manifests = Vec::new();
    let mut problems = Vec::new();
    // WHY: names are told from where git was asked, and `./` lets it look them up from there.
    let read = files.iter().map(|file| {
        let bytes = git(&["show", &format!("{revision}:./{file}")]).map_err(failed)?;
        read(&format!("git:{revision}:{file}"), &bytes)
    });
    gather(read, &mut manifests, &mut problems);
    if problems.is_empty() { Ok(manifests) } else { Err(problems) }
}

fn gather(
    read: impl Iterator<Item = Result<Vec<Manifest>, Vec<Problem>>>,
    manifests: &mut Vec<Manifest>,
    problems: &mut Vec<Problem>,
) {
    for result in read {
        match result {
            Ok(found) => manifests.extend(found),
            Err(found) => problems.extend(found),
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<Manifest>, Vec<Problem>> {
    let name = path.display().to_string();
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| vec![Problem::of_file(&name, format!("cannot be read: {error}"))])?;
    read(&name, &bytes)
}

/// The files that a path means: itself, or what a folder holds, by name.
fn files(path: &Path, recursive: bool) -> Result<Vec<PathBuf>, Problem> {
    if path.as_os_str() == "-" || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    list(path, recursive, &mut found)?;
    if found.is_empty() {
        let problem = Problem::of_file(&path.display().to_string(), "there are no manifests in this folder");
        return Err(if recursive { problem } else { problem.hint("-R looks into the folders within it") });
    }
    Ok(found)
}

fn list(folder: &Path, recursive: bool, found: &mut Vec<PathBuf>) -> Result<(), Problem> {
    let unreadable =
        |error: std::io::Error| Problem::of_file(&folder.display().to_string(), format!("cannot be read: {error}"));
    let mut entries = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>())
        .map_err(unreadable)?;
    entries.sort();
    for entry in entries {
        // WHY: a link to a folder above would have no end.
        if entry.is_dir() {
            if recursive && !entry.is_symlink() {
                list(&entry, recursive, found)?;
            }
        } else if is_manifest(&entry) {
            found.push(entry);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
}
