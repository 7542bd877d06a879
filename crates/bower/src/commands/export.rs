//! Implements `bower export`: writes the content of the store in one of three forms.
//! A file appears under its name only when it is complete.

use bower_core::Error;
use bower_core::item::Visibility;
use bower_core::request::moving::Exported;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::{Session, now, selection};
use crate::cli::{ExportArgs, Form};
use crate::failure::{Failure, Result};
use crate::render;
use crate::service::{Bounds, ExportBody};

/// Exports items and prints a summary.
pub fn run(arguments: &ExportArgs, session: &Session) -> Result<()> {
    let now = now();
    let body = ExportBody {
        all: arguments.all,
        documents: arguments.documents,
        vectors: arguments.vectors,
        select: selection(&arguments.select, now)?,
    };
    let mut request = body.request(&Bounds::local(), now)?;
    request.force = arguments.force;
    let to = arguments.to.as_deref().filter(|to| *to != Path::new("-"));
    if arguments.form != Form::Jsonl && (arguments.documents || arguments.vectors) {
        return Err(Failure::usage(
            "--documents and --vectors are for --as jsonl",
            "leave them out: files for people and agents hold memories alone",
        ));
    }
    let service = session.service()?;
    let engine = service.engine();
    let exported = match (arguments.form, to) {
        (Form::Jsonl, None) => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            let exported = engine.export_lines(
                &Visibility::everything(),
                &request,
                &mut out,
                Path::new("standard output"),
                now,
            );
            let exported = match exported {
                // The reader has closed the pipe (`bower export | head`).
                Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => {
                    return Ok(());
                }
                other => other?,
            };
            session
                .out
                .note(render::moving::exported(&exported, "standard output", &session.out.look()).trim_end());
            return Ok(());
        }
        (Form::Jsonl, Some(file)) => to_file(file, arguments.force, |out| {
            Ok(engine.export_lines(&Visibility::everything(), &request, out, file, now)?)
        })?,
        (Form::Markdown | Form::MemoryMd, None) => {
            return Err(Failure::usage(
                "these are several files, and no folder is named",
                "bower export FOLDER --as markdown",
            ));
        }
        (Form::Markdown, Some(folder)) => {
            engine.export_folder(&Visibility::everything(), &request, folder)?
        }
        (Form::MemoryMd, Some(folder)) => {
            engine.export_digest(&Visibility::everything(), &request, folder, arguments.budget as usize)?
        }
    };
    let name = to.unwrap_or(Path::new("-")).display().to_string();
    session.out.say(&exported, |look| render::moving::exported(&exported, &name, look))
}

/// Writes a temporary file and renames it at the end.
fn to_file(
    file: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<Exported>,
) -> Result<Exported> {
    if file.is_dir() {
        return Err(Failure::usage(
            format!("{} is a folder", file.display()),
            "name a file, or --as markdown for a folder of files",
        ));
    }
    if file.exists() && !force {
        return Err(Failure::usage(
            format!("{} is there already", file.display()),
            "name another file, or add --force",
        ));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |source| Failure::from(Error::io("write", file, source));
    let mut aside = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    // A new file is readable by its owner only; a replaced file keeps its permissions.
    if let Ok(there) = std::fs::metadata(file) {
        aside.as_file().set_permissions(there.permissions()).map_err(failed)?;
    }
    let exported = {
        let mut out = BufWriter::new(aside.as_file_mut());
        let exported = write(&mut out)?;
        out.flush().map_err(failed)?;
        exported
    };
    aside.as_file().sync_all().map_err(failed)?;
    aside.persist(file).map_err(|error| failed(error.error))?;
    Ok(exported)
}
