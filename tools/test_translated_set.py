"""Tests of the rules by which tools/translated_set.py makes its sets; the packages are not needed."""

import pathlib
import struct
import tempfile
import unittest

import translated_set as made

PAGE = """LS(1)          User Commands          LS(1)

BEZEICHNUNG
       ls, dir - Verzeichnisinhalte auflisten

ÜBERSICHT
       ls [OPTION]... [DATEI]...

BESCHREIBUNG
       Informationen über die DATEI(en) auflisten (Vorgabe: aktuelles Verzeich‐
       nis).

       │ Schnittstelle │ Wert │

GNU coreutils          April 2022          LS(1)
"""


def catalogue(pairs):
    """A .mo file with these messages, as GNU gettext describes it."""
    texts = [(one.encode(), two.encode()) for one, two in sorted(pairs.items())]
    start = 28 + 16 * len(texts)
    tables, body = [b"", b""], b""
    for side in (0, 1):
        for text in texts:
            tables[side] += struct.pack("<2I", len(text[side]), start + len(body))
            body += text[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(texts), 28, 28 + 8 * len(texts), 0, start)
    return head + tables[0] + tables[1] + body


class Pages(unittest.TestCase):
    def test_a_page_becomes_a_question_and_a_body_without_name_and_synopsis(self):
        question, body = made.described("ls.1", PAGE)
        self.assertEqual(question, "Verzeichnisinhalte auflisten")
        self.assertEqual(body[0], "BESCHREIBUNG")
        self.assertEqual(body[-1], "Schnittstelle Wert")
        self.assertNotIn("OPTION", " ".join(body))

    def test_a_description_with_the_name_is_no_question(self):
        self.assertEqual(made.described("ls.1", PAGE.replace("auflisten\n", "mit DIR auflisten\n", 1))[0], "")

    def test_a_page_without_a_description_is_left_out(self):
        self.assertIsNone(made.described("ls.1", PAGE.replace(" - ", " ")))

    def test_paragraphs_of_five_pages_are_boilerplate(self):
        licence = "This is free software: there is no warranty."
        pages = {str(at): ("", [licence, f"Text {at}", "NOTES"]) for at in range(5)}
        self.assertEqual(made.without_boilerplate(pages)["3"], ("", ["Text 3", "NOTES"]))
        del pages["0"]
        self.assertIn(licence, made.without_boilerplate(pages)["3"][1])

    def test_a_page_is_cut_at_a_share_of_its_length_and_not_after_a_heading(self):
        self.assertEqual(made.cut(["a" * 50, "HEADING", "b" * 50], 0.5), "a" * 50)
        self.assertEqual(made.cut(["a" * 50, "b" * 50], 1.0), "a" * 50 + "\n\n" + "b" * 50)


class Texts(unittest.TestCase):
    def test_the_language_of_prose_is_told_from_english(self):
        for code, own in {
            "de": "Die Datei wird nicht gelesen, und das ist ein Fehler.",
            "es": "El archivo no se puede leer y la orden termina.",
            "fr": "Le fichier ne peut pas être lu et la commande se termine.",
            "ru": "Файл file.txt нельзя прочитать, и команда ls завершается.",
            "ja": "ファイル file.txt を読むことができないため ls は終了する。",
            "pt": "O arquivo não pode ser lido e o comando termina em um erro.",
        }.items():
            self.assertIs(made.in_language(own, code), True, code)
            self.assertIs(made.in_language("The file can not be read, and this is an error.", code), False, code)
            self.assertIsNone(made.in_language("read(2), write(2), open(2)", code), code)

    def test_texts_that_resemble_each_other_are_dropped_both(self):
        texts = {"a": "open a shared file", "b": "open the shared file", "c": "complex sine function"}
        self.assertEqual(made.distinct(texts, 0.6), {"c"})
        self.assertEqual(made.distinct({"a": "ファイルを開く", "b": "ファイルを開け", "c": "正弦関数"}, 0.6), {"c"})

    def test_a_translation_with_the_english_words_is_a_leak(self):
        self.assertTrue(made.is_leak("devuelven Not a Number", "return Not a Number"))
        self.assertFalse(made.is_leak("copia el signo de un número", "copy sign of a number"))


class Messages(unittest.TestCase):
    def test_messages_are_read_without_head_plural_and_context(self):
        pairs = {"": "Content-Type: text/plain; charset=UTF-8\n", "one\0many": "eins\0viele", "menu\4Open": "Öffnen", "quit": "beenden"}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.mo"
            path.write_bytes(catalogue(pairs))
            self.assertEqual(made.catalogue(path), {"quit": "beenden"})

    def test_a_message_with_a_literal_is_no_prose(self):
        for text in ["use --force", "cannot open %s", "see `make'", "set LANG", "in file_name", "at 4096", "is an errorCode"]:
            self.assertTrue(made.LITERAL.search(text), text)
        self.assertFalse(made.LITERAL.search("the file doesn't exist; create it (or a folder), then try again"))


class Mixed(unittest.TestCase):
    def test_a_page_is_in_one_language_only(self):
        pair = lambda code, name: ((f"{code} {name}", f"{code} text {name}"), (f"en {name}", f"en text {name}"))
        names = [f"page{at}" for at in range(20)]
        all_pairs = {code: ({name: pair(code, name) for name in names}, set(names)) for code in ("de", "fr")}
        with tempfile.TemporaryDirectory() as folder:
            made.write_mixed(pathlib.Path(folder), all_pairs, 1, count=6)
            read = lambda name: made.lines(pathlib.Path(folder) / name)
            documents = [each["_id"] for each in read("mixed-within/corpus.jsonl")]
            self.assertEqual(len(documents), 18)
            self.assertEqual(len({one.split("-")[1] for one in documents}), 18)
            self.assertEqual(documents, [each["_id"] for each in read("mixed-across/corpus.jsonl")])
            across = read("mixed-across/queries.jsonl")
            self.assertEqual({each["text"].split()[0] for each in across}, {"en"})
            self.assertEqual(sorted(each["category"] for each in across), ["de"] * 6 + ["fr"] * 6)


if __name__ == "__main__":
    unittest.main()
