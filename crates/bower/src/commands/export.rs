//! Implements `bower export`: writes the content of the store in one of three forms.
//! A file appears under its name only when it is complete.

use bower_core::Error;
use bower_core::item::Visibility;
use std::io::BufWriter;
use std::path::Path;

use super::{Session, check_free, now, selection, write_file};
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
    if let (Form::Jsonl, Some(file)) = (arguments.form, to) {
        check_free(file, arguments.force, "name a file, or --as markdown for a folder of files")?;
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
        (Form::Jsonl, Some(file)) => write_file(file, |out| {
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
