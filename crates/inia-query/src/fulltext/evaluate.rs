//! Finding what a search means, and ranking it.
//!
//! The parts of a list are evaluated in three passes, as InnoDB does: first those without `+` and
//! `-` in their order, then the required ones, then the excluded ones. What stands before a group
//! is evaluated whole before the group: in `-a (b)` nothing is excluded yet when `b` is found. A
//! term of several words, such as `+a,b`, is evaluated in the first pass whatever its operator.
//!
//! Each part changes the documents found so far. So `~word` has no effect before anything is found,
//! and a document that a required word brings in has only the adjustments that the first pass made
//! for it.
//!
//! A document's rank is the sum of its adjustments, from -1 to 1, and for each word found in it of
//! the word's frequency there times the square of the word's weight ([`weight`]).

use super::search::{Item, Operator, Search, SearchPart};
use inia_base::error::SqlError;
use std::collections::HashMap;

/// A document that has a word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Posting {
    /// The document.
    pub(crate) document: u32,
    /// How often the word is in it.
    pub(crate) frequency: u32,
    /// Where, if that was asked for, in ascending order: each is the number of the word, counted
    /// over all columns, times the number of columns, plus the column.
    pub(crate) positions: Vec<u32>,
}

/// The documents that have a word, or words with a beginning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    /// Each document once. Of several words the last one's frequency counts.
    pub(crate) list: Vec<Posting>,
    /// How many documents each word has, added up.
    pub(crate) documents: u64,
}

/// Where words are looked up.
pub(crate) trait WordSource {
    /// The documents that have the word of this key or, with `begins`, words that begin with it.
    ///
    /// Positions are wanted where the search has phrases; else they may be left out.
    fn postings(&mut self, key: &[u8], begins: bool) -> Result<Postings, SqlError>;

    /// How many columns documents have.
    fn columns(&self) -> u32;
}

/// A document that is found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// What `>`, `<` and `~` make of it.
    adjustment: f32,
    /// The words found in it, each once.
    words: Vec<FoundWord>,
}

/// A word found in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FoundWord {
    /// When the search looked it up first: ranks are summed up in this order.
    turn: usize,
    word: usize,
    frequency: u32,
}

type Documents = HashMap<u32, Found>;

/// The weight of a word that is in so many of the documents.
pub(crate) fn weight(total: u64, documents: u64) -> f64 {
    match documents {
        0 => 0.0,
        // A word that all documents have is worth something, too.
        _ if documents == total => 1.0001f64.log10(),
        _ => (total as f64 / documents as f64).log10(),
    }
}

/// The rank of a document, with the words' weights.
pub(crate) fn rank_of(found: &Found, weights: &[f64]) -> f32 {
    let mut words = found.words.clone();
    words.sort_unstable_by_key(|found| found.turn);
    words.iter().fold(found.adjustment, |rank, found| {
        let weight = weights[found.word];
        rank + (f64::from(found.frequency) * weight * weight) as f32
    })
}

/// The rank of a document where no index gives words their weights: each word counts once, as in
/// MyISAM's boolean mode.
pub(crate) fn words_found(found: &Found) -> f32 {
    found.adjustment + found.words.len() as f32
}

impl Search {
    /// The documents that the search finds in `source`. Adds to `counts`, for each word, how many
    /// documents it was found in each time that it was looked up.
    pub(crate) fn evaluate(
        &self,
        source: &mut dyn WordSource,
        counts: &mut [u64],
    ) -> Result<Documents, SqlError> {
        debug_assert_eq!(counts.len(), self.words.len(), "each word is counted");
        let turns = Vec::new();
        let mut state = State { search: self, source, counts, turns, found: None, required: false };
        state.list(&self.parts)?;
        Ok(state.found.unwrap_or_default())
    }
}

/// The documents found so far in one list.
struct State<'s> {
    search: &'s Search,
    source: &'s mut dyn WordSource,
    counts: &'s mut [u64],
    /// The words that have been looked up, in the order of their first look-up.
    turns: Vec<usize>,
    found: Option<Documents>,
    /// A required part has been evaluated: no document comes in any more.
    required: bool,
}

impl Found {
    fn adjust(&mut self, by: f32) {
        self.adjustment = (self.adjustment + by).clamp(-1.0, 1.0);
    }

    fn add_words(&mut self, words: &[FoundWord]) {
        for word in words {
            if self.words.iter().all(|known| known.word != word.word) {
                self.words.push(*word);
            }
        }
    }
}

impl State<'_> {
    fn list(&mut self, parts: &[SearchPart]) -> Result<(), SqlError> {
        let pass = |part: &SearchPart| match (&part.item, part.operator) {
            (Item::Several(_), _) => 0,
            (_, Operator::Required) => 1,
            (_, Operator::Excluded) => 2,
            _ => 0,
        };
        let whole = self.search.whole_lists;
        let mut rest = parts;
        while !rest.is_empty() {
            let is_group = |part: &SearchPart| !whole && matches!(part.item, Item::Group(_));
            let next = rest[1..].iter().position(is_group);
            let (parts, behind) = rest.split_at(next.map_or(rest.len(), |at| at + 1));
            for number in 0..3 {
                for part in parts.iter().filter(|part| pass(part) == number) {
                    self.part(part.operator, &part.item)?;
                }
            }
            rest = behind;
        }
        Ok(())
    }

    fn part(&mut self, operator: Operator, item: &Item) -> Result<(), SqlError> {
        let nothing_left = self.required && self.found.as_ref().is_none_or(HashMap::is_empty);
        if operator == Operator::Required && nothing_left {
            return Ok(());
        }
        let documents = match item {
            Item::Several(items) => {
                return items.iter().try_for_each(|item| self.part(operator, item));
            }
            Item::Word { word, begins } => self.word(*word, *begins)?,
            Item::Phrase { words, ranked } => self.phrase(words, ranked)?,
            Item::Near { words, distance } => self.near(words, *distance)?,
            Item::Group(parts) => self.group(parts)?,
        };
        self.combine(operator, documents);
        Ok(())
    }

    /// What a group finds by itself.
    fn group(&mut self, parts: &[SearchPart]) -> Result<Documents, SqlError> {
        let around = (self.found.take(), std::mem::take(&mut self.required));
        let outcome = self.list(parts);
        let found = self.found.take().unwrap_or_default();
        (self.found, self.required) = around;
        outcome.map(|()| found)
    }

    fn postings(&mut self, word: usize, begins: bool) -> Result<Postings, SqlError> {
        let wanted = &self.search.words[word];
        if !begins && !wanted.is_searched || wanted.key.is_empty() {
            return Ok(Postings::default());
        }
        let postings = self.source.postings(&wanted.key, begins)?;
        self.counts[word] += postings.documents;
        Ok(postings)
    }

    fn turn(&mut self, word: usize) -> usize {
        let known = self.turns.iter().position(|other| *other == word);
        known.unwrap_or_else(|| {
            self.turns.push(word);
            self.turns.len() - 1
        })
    }

    fn word(&mut self, word: usize, begins: bool) -> Result<Documents, SqlError> {
        let postings = self.postings(word, begins)?;
        let turn = self.turn(word);
        let found = |posting: Posting| {
            let words = vec![FoundWord { turn, word, frequency: posting.frequency }];
            (posting.document, Found { adjustment: 0.0, words })
        };
        Ok(postings.list.into_iter().map(found).collect())
    }

    /// The documents in which all the words' positions fulfil a condition. Words that do not count
    /// for the rank are looked up, too.
    fn together(
        &mut self,
        (words, ranked): (&[usize], &[usize]),
        fits: &dyn Fn(&[&[u32]]) -> bool,
    ) -> Result<Documents, SqlError> {
        // Words that count for the rank come first. Nothing more is looked up once one is nowhere.
        let mut lookups: Vec<usize> = (0..words.len()).collect();
        lookups.sort_by_key(|at| !ranked.contains(&words[*at]));
        let mut lists: Vec<HashMap<u32, Posting>> = vec![HashMap::new(); words.len()];
        for at in lookups {
            let word = words[at];
            let postings = match ranked.contains(&word) {
                true => self.postings(word, false)?,
                false if self.search.words[word].key.is_empty() => Postings::default(),
                false => self.source.postings(&self.search.words[word].key, false)?,
            };
            if postings.list.is_empty() {
                return Ok(Documents::new());
            }
            lists[at] = postings.list.into_iter().map(|found| (found.document, found)).collect();
        }
        let turns: Vec<usize> = words.iter().map(|word| self.turn(*word)).collect();
        let mut documents = Documents::new();
        for document in lists.first().into_iter().flat_map(HashMap::keys) {
            let postings: Vec<&Posting> =
                lists.iter().filter_map(|list| list.get(document)).collect();
            let positions: Vec<&[u32]> =
                postings.iter().map(|posting| &posting.positions[..]).collect();
            if positions.len() == words.len() && fits(&positions) {
                let mut found = Found::default();
                for ((&word, &turn), posting) in words.iter().zip(&turns).zip(&postings) {
                    if ranked.contains(&word) {
                        let frequency = posting.frequency;
                        found.add_words(&[FoundWord { turn, word, frequency }]);
                    }
                }
                documents.insert(*document, found);
            }
        }
        Ok(documents)
    }

    fn phrase(&mut self, words: &[usize], ranked: &[usize]) -> Result<Documents, SqlError> {
        // The next word of the same column is so far away.
        let step = self.source.columns();
        self.together((words, ranked), &|positions| {
            positions[0].iter().any(|&start| {
                let at = |(number, list): (usize, &&[u32])| {
                    list.binary_search(&(start + number as u32 * step)).is_ok()
                };
                positions.iter().enumerate().all(at)
            })
        })
    }

    fn near(&mut self, words: &[usize], distance: u32) -> Result<Documents, SqlError> {
        let columns = self.source.columns();
        self.together((words, words), &|positions| are_near(positions, columns, distance))
    }

    /// Adds what a part finds to what the parts before it have found.
    fn combine(&mut self, operator: Operator, documents: Documents) {
        let mut found = self.found.take().unwrap_or_default();
        match operator {
            Operator::Required => {
                let mut kept = Documents::with_capacity(documents.len());
                for (document, part) in documents {
                    let known = found.remove(&document);
                    if known.is_none() && self.required {
                        continue;
                    }
                    let mut both = known.unwrap_or_default();
                    both.adjust(part.adjustment);
                    both.add_words(&part.words);
                    kept.insert(document, both);
                }
                found = kept;
                self.required = true;
            }
            Operator::Excluded => documents.keys().for_each(|document| {
                found.remove(document);
            }),
            Operator::Any | Operator::Raised | Operator::Lowered | Operator::Negated => {
                for (document, part) in documents {
                    let known = match operator {
                        Operator::Negated => found.get_mut(&document),
                        _ => Some(found.entry(document).or_insert_with(|| Found {
                            adjustment: part.adjustment,
                            words: Vec::new(),
                        })),
                    };
                    let Some(known) = known else { continue };
                    match operator {
                        Operator::Any => {}
                        Operator::Raised => known.adjust(1.0),
                        _ => known.adjust(-1.0),
                    }
                    known.add_words(&part.words);
                }
            }
        }
        self.found = Some(found);
    }
}

/// Whether a word of each list is among some `distance` words one after the other.
fn are_near(positions: &[&[u32]], columns: u32, distance: u32) -> bool {
    let mut at = vec![0usize; positions.len()];
    loop {
        let current = at.iter().zip(positions).map(|(&at, list)| list.get(at).copied());
        let Some(current) = current.collect::<Option<Vec<u32>>>() else { return false };
        let (Some(&low), Some(&high)) = (current.iter().min(), current.iter().max()) else {
            return false;
        };
        if high / columns - low / columns < distance {
            return true;
        }
        // Only a later position of the first word can bring them nearer.
        let lowest = current.iter().position(|&position| position == low).unwrap_or_default();
        at[lowest] += 1;
    }
}
