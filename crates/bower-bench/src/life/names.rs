//! Makes the names of what the simulated agent writes about.
//! Names are combined of lists, so that a seed draws a few hundred of many thousands.

use std::collections::HashSet;

use super::words::{Draw, other_digit, rule};

/// Who or what a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Service,
    Project,
    Person,
    Machine,
    Ticket,
    Customer,
    Dataset,
    Taste,
}

impl Subject {
    pub const ALL: &[Self] = &[
        Self::Service,
        Self::Project,
        Self::Person,
        Self::Machine,
        Self::Ticket,
        Self::Customer,
        Self::Dataset,
        Self::Taste,
    ];

    /// A name that something may have already.
    fn name(self, draw: &mut Draw) -> String {
        draw.text(&format!("{self:?}").to_lowercase())
    }
}

/// A name in the spellings that people use for it, the usual one first.
pub type Forms = Vec<String>;

/// Makes names, none twice.
#[derive(Default)]
pub struct Names {
    used: HashSet<String>,
}

impl Names {
    /// A name that nothing has yet, with its spellings.
    pub fn fresh(&mut self, draw: &mut Draw, subject: Subject) -> Forms {
        for _ in 0..10_000 {
            let name = subject.name(draw);
            if self.used.insert(name.clone()) {
                return forms(draw, subject, &name);
            }
        }
        // More names than the lists give: a number makes it another.
        let name = format!("{}-{}", subject.name(draw), self.used.len());
        self.used.insert(name.clone());
        vec![name]
    }

    /// The name with one digit changed, or another stage or first name: as near as a different thing can be called.
    pub fn near(&mut self, draw: &mut Draw, subject: Subject, name: &str) -> Option<Forms> {
        for _ in 0..20 {
            let near = match subject {
                Subject::Service => {
                    let base = name.split(" in ").next().unwrap_or(name);
                    format!("{base} in {}", draw.word(rule("stages")))
                }
                Subject::Person => {
                    let surname = name.split(' ').next_back().unwrap_or(name);
                    format!("{} {surname}", draw.word(rule("first_names")))
                }
                Subject::Taste => {
                    let project = name.split(" in ").nth(1).unwrap_or(name);
                    format!("{} in {project}", draw.word(rule("taste_topics")))
                }
                Subject::Project | Subject::Customer => return None,
                Subject::Machine | Subject::Ticket | Subject::Dataset => other_digit(draw, name)?,
            };
            if self.used.insert(near.clone()) {
                return Some(forms(draw, subject, &near));
            }
        }
        None
    }
}

/// The spellings of a name that stay recognisable.
fn forms(draw: &mut Draw, subject: Subject, name: &str) -> Forms {
    let mut forms = vec![name.to_owned()];
    match subject {
        Subject::Service => {
            if let Some((base, stage)) = name.split_once(" in ") {
                forms.push(format!("{stage} {base}"));
                forms.push(format!("{base} ({stage})"));
            } else {
                forms.push(name.replace('-', " "));
                forms.push(format!("the {name} service"));
                if draw.chance(0.3) {
                    forms.push(camel(name));
                }
            }
        }
        Subject::Project => forms.push(format!("project {name}")),
        Subject::Machine => forms.push(format!("host {name}")),
        Subject::Ticket => forms.push(format!("ticket {name}")),
        Subject::Dataset => forms.push(format!("the {name} table")),
        Subject::Person | Subject::Customer | Subject::Taste => {}
    }
    forms
}

fn camel(name: &str) -> String {
    name.split('-')
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_differs_and_stays_near() {
        let mut draw = Draw::new(1);
        let stage = Names::default().near(&mut draw, Subject::Service, "harbor-relay in dev").unwrap();
        assert!(stage[0].starts_with("harbor-relay in "), "{stage:?}");
    }
}
