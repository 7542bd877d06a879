//! Holds what the commands and environments of LaTeX mean for a reader of the text.

/// What a command does.
pub(super) enum Meaning {
    Heading(usize),
    Title,
    Field(&'static str),
    Item,
    Paragraph,
    Break,
    Space,
    /// Its braces are a paragraph of their own.
    OwnParagraph,
    /// Its braces are a remark.
    Note,
    /// Says how many columns or rows a cell has.
    Span,
    /// Defines a command.
    Definition,
    /// Defines an environment for theorems.
    Theorem,
    /// Defines an environment for code.
    Verbatim,
    /// Names a sign between which code stands.
    ShortCode,
    Other,
}

/// Returns what a command does.
pub(super) fn meaning(name: &str) -> Meaning {
    match name {
        "part" | "chapter" => Meaning::Heading(1),
        "section" => Meaning::Heading(2),
        "subsection" | "frametitle" => Meaning::Heading(3),
        "subsubsection" | "framesubtitle" => Meaning::Heading(4),
        "paragraph" => Meaning::Heading(5),
        "subparagraph" => Meaning::Heading(6),
        "title" => Meaning::Title,
        "author" => Meaning::Field("author"),
        "date" => Meaning::Field("date"),
        "keywords" => Meaning::Field("keywords"),
        "subtitle" => Meaning::Field("subtitle"),
        "item" | "bibitem" => Meaning::Item,
        "par" | "newpage" | "clearpage" | "bigskip" | "medskip" | "smallskip" | "maketitle" => {
            Meaning::Paragraph
        }
        "newline" | "linebreak" | "and" | "tabularnewline" => Meaning::Break,
        "quad" | "qquad" | "hfill" | "hskip" | "enspace" | "thinspace" | "space" | "hfil" | "xspace" => {
            Meaning::Space
        }
        "caption" | "captionof" | "centerline" => Meaning::OwnParagraph,
        "footnote" | "footnotetext" | "thanks" | "marginpar" => Meaning::Note,
        "multicolumn" | "multirow" => Meaning::Span,
        "newcommand"
        | "renewcommand"
        | "providecommand"
        | "DeclareRobustCommand"
        | "def"
        | "gdef"
        | "edef"
        | "xdef"
        | "NewDocumentCommand"
        | "RenewDocumentCommand" => Meaning::Definition,
        "newtheorem" => Meaning::Theorem,
        "lstnewenvironment" | "DefineVerbatimEnvironment" | "newminted" => Meaning::Verbatim,
        "MakeShortVerb" | "lstMakeShortInline" => Meaning::ShortCode,
        _ => Meaning::Other,
    }
}

/// Commands with arguments in braces that are not for readers: labels, lengths, colours, names of files. The first list has
/// those with one such argument, the second those with two, and so on.
const HIDDEN: [&[&str]; 4] = [
    &[
        "label",
        "ref",
        "pageref",
        "eqref",
        "autoref",
        "cref",
        "Cref",
        "nameref",
        "vref",
        "index",
        "glossary",
        "nocite",
        "bibliography",
        "bibliographystyle",
        "addbibresource",
        "input",
        "include",
        "includeonly",
        "includegraphics",
        "usepackage",
        "RequirePackage",
        "documentclass",
        "pagestyle",
        "thispagestyle",
        "pagenumbering",
        "vspace",
        "hspace",
        "vskip",
        "phantom",
        "hphantom",
        "vphantom",
        "color",
        "pagecolor",
        "textcolor",
        "colorbox",
        "href",
        "hypertarget",
        "hyperlink",
        "hypersetup",
        "graphicspath",
        "raisebox",
        "parbox",
        "scalebox",
        "rotatebox",
        "linespread",
        "theoremstyle",
        "cline",
        "cmidrule",
        "geometry",
        "lstset",
        "usetikzlibrary",
        "tikzset",
        "pgfplotsset",
        "newlength",
        "newcounter",
        "stepcounter",
        "refstepcounter",
        "usetheme",
        "usecolortheme",
        "selectlanguage",
        "foreignlanguage",
        "hyphenation",
        "lstinputlisting",
        "verbatiminput",
        "bibitem",
        "fontfamily",
        "fontseries",
        "fontshape",
        "setmainfont",
        "setsansfont",
        "setmonofont",
        "newsavebox",
        "usebox",
        "sbox",
        "addvspace",
        "enlargethispage",
        "captionsetup",
        "rowcolor",
        "cellcolor",
        "columncolor",
        "arrayrulecolor",
        "tikz",
        "makebox",
        "ProvidesFile",
        "ProvidesPackage",
        "NeedsTeXFormat",
        "pdfbookmark",
        "setlist",
        "DeclareGraphicsExtensions",
        "DeleteShortVerb",
        "AtBeginDocument",
        "AtEndDocument",
        "includepdf",
        "markright",
    ],
    &[
        "setlength",
        "addtolength",
        "settowidth",
        "settoheight",
        "setcounter",
        "addtocounter",
        "rule",
        "resizebox",
        "fontsize",
        "DeclareMathOperator",
        "colorlet",
        "fcolorbox",
        "savebox",
        "markboth",
        "titlespacing",
        "newfloat",
        "declaretheorem",
        "setbeamertemplate",
        "setbeamercolor",
        "setbeamerfont",
        "renewbibmacro",
    ],
    &["newenvironment", "renewenvironment", "definecolor", "addcontentsline", "DeclareFontFamily"],
    &["titleformat", "NewDocumentEnvironment"],
];

/// Returns how many arguments in braces of a command are not for readers.
pub(super) fn arguments(name: &str) -> usize {
    match HIDDEN.iter().position(|names| names.contains(&name)) {
        Some(place) => place + 1,
        // Citations have many names: `\citep`, `\parencite`, `\textcite`.
        None => usize::from(name.contains("cite") && !name.contains("citetitle")),
    }
}

/// What an environment is.
pub(super) enum Environment {
    Document,
    Code,
    /// A formula, which is kept as written.
    Formula,
    /// Drawings and comments, of which a reader sees no text.
    Silent,
    /// A list, by the mark of its items.
    List(&'static str),
    /// A table with some arguments before its text.
    Table(usize),
    /// Text like that around it, behind some arguments.
    Other(usize),
}

/// Returns what an environment is, by its name without a star.
pub(super) fn environment(name: &str) -> Environment {
    match name {
        "document" => Environment::Document,
        "lstlisting" | "minted" | "alltt" | "filecontents" | "semiverbatim" => Environment::Code,
        _ if ["verbatim", "code"].iter().any(|kind| name.to_ascii_lowercase().contains(kind)) => {
            Environment::Code
        }
        "equation" | "align" | "gather" | "multline" | "eqnarray" | "displaymath" | "math" | "flalign"
        | "alignat" | "dmath" | "IEEEeqnarray" => Environment::Formula,
        "comment" | "tikzpicture" | "pspicture" | "picture" | "pgfpicture" | "tikzcd" | "forest" => {
            Environment::Silent
        }
        "itemize" | "description" | "list" | "thebibliography" | "compactitem" | "trivlist" | "labeling" => {
            Environment::List("-")
        }
        "enumerate" | "compactenum" => Environment::List("1."),
        "tabular" | "longtable" | "supertabular" | "xtabular" | "array" | "tblr" | "longtblr" => {
            Environment::Table(1)
        }
        "tabularx" | "tabulary" => Environment::Table(2),
        "minipage" | "multicols" | "spacing" | "column" | "otherlanguage" | "subfigure" | "CJK" => {
            Environment::Other(1)
        }
        "wrapfigure" | "wraptable" | "adjustwidth" => Environment::Other(2),
        _ => Environment::Other(0),
    }
}

/// Returns the combining sign of an accent (Unicode 16, block Combining Diacritical Marks).
pub(super) fn accent(name: &str) -> Option<char> {
    Some(match name {
        "`" => '\u{300}',
        "'" => '\u{301}',
        "^" => '\u{302}',
        "~" => '\u{303}',
        "=" => '\u{304}',
        "u" => '\u{306}',
        "." => '\u{307}',
        "\"" => '\u{308}',
        "r" => '\u{30A}',
        "H" => '\u{30B}',
        "v" => '\u{30C}',
        "d" => '\u{323}',
        "c" => '\u{327}',
        "k" => '\u{328}',
        "b" => '\u{331}',
        _ => return None,
    })
}
