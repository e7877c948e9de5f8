//! What is said beside a rewritten statement, in the order in which MySQL comes to it: deprecated
//! syntax, names of enclosing SELECTs, frames that functions over windows ignore, and texts beside
//! numbers that are none.

use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Level, Warning};
use inia_parser::ast::*;
use std::cell::RefCell;

/// Warning 1287 of VALUES() in ON DUPLICATE KEY UPDATE.
pub(crate) const VALUES_DEPRECATED: &str = "'VALUES function' is deprecated and will be removed \
    in a future release. Please use an alias (INSERT INTO ... VALUES (...) AS alias) and replace \
    VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col instead";

#[derive(Default)]
pub(super) struct Remarks {
    /// Of deprecated syntax.
    written: Vec<Warning>,
    /// Of names and of SELECTs that vanished.
    resolved: Vec<Warning>,
    /// Of frames.
    frames: Vec<Warning>,
    /// Of constants that were converted.
    folded: RefCell<Vec<Warning>>,
    /// Of indexes that cannot be used.
    unusable: Vec<Warning>,
}

impl Remarks {
    pub(super) fn resolved(&mut self, warning: Warning) {
        self.resolved.push(warning);
    }

    /// Takes those of a part of the statement.
    pub(super) fn append(&mut self, mut part: Remarks) {
        self.written.append(&mut part.written);
        self.resolved.append(&mut part.resolved);
        self.frames.append(&mut part.frames);
        self.folded.get_mut().append(part.folded.get_mut());
        self.unusable.append(&mut part.unusable);
    }

    /// All of them, in their order.
    pub(super) fn all(self) -> Vec<Warning> {
        let folded = self.folded.into_inner();
        let lists = [self.written, self.resolved, self.frames, folded, self.unusable];
        lists.into_iter().flatten().collect()
    }

    /// The text that is no number, where there is one.
    pub(super) fn wrong_text(&self) -> Option<SqlError> {
        let error = |warning: &Warning| SqlError::with_message(warning.code, &*warning.message);
        self.folded.borrow().first().map(error)
    }

    /// An index that a comparison cannot use, by `ref` or `range` access.
    pub(super) fn unusable(&mut self, access: &str, index: &str, column: &str) {
        let names: [&dyn std::fmt::Display; 3] = [&access, &index, &column];
        let error = SqlError::new(ErrorCode::WarnIndexNotApplicable, &names);
        self.unusable.push(Warning::of(Level::Warning, error));
    }

    /// A constant that is none of the values of a column of dates or times.
    pub(super) fn incorrect(&self, kind: &str, text: &str, column: &str) {
        let names: [&dyn std::fmt::Display; 4] = [&kind, &text, &column, &1];
        let error = SqlError::new(ErrorCode::TruncatedWrongValueForField, &names);
        self.folds(SqlError::with_message(ErrorCode::TruncatedWrongValue, error.message));
    }

    /// A condition may be folded more than once.
    fn folds(&self, error: SqlError) {
        let mut folded = self.folded.borrow_mut();
        if folded.iter().all(|known| known.message != error.message) {
            folded.push(Warning::of(Level::Warning, error));
        }
    }

    /// A text that a number is compared with.
    pub(super) fn truncated(&self, text: &str) {
        self.folds(SqlError::new(ErrorCode::TruncatedWrongValue, &[&"DOUBLE", &text]));
    }

    /// Deprecated functions that a statement warns of when it runs.
    pub(super) fn function(&mut self, name: &str) {
        if name.eq_ignore_ascii_case("found_rows") {
            self.deprecated(SqlError::new(ErrorCode::WarnDeprecatedFoundRows, &[]).message);
        } else if name.eq_ignore_ascii_case("json_merge") {
            let new: [&dyn std::fmt::Display; 2] =
                [&"JSON_MERGE", &"JSON_MERGE_PRESERVE/JSON_MERGE_PATCH"];
            self.deprecated(SqlError::new(ErrorCode::WarnDeprecatedSyntax, &new).message);
        }
    }

    /// VALUES() in ON DUPLICATE KEY UPDATE.
    pub(super) fn values_function(&mut self, value: &Expr) {
        if matches!(value, Expr::InsertValue(_)) {
            self.deprecated(VALUES_DEPRECATED.to_owned());
        }
        value.for_each_child(&mut |child| self.values_function(child));
    }

    /// What the options and the windows of a SELECT bring.
    pub(super) fn select(&mut self, select: &Select) {
        if select.options.calc_found_rows {
            let error = SqlError::new(ErrorCode::WarnDeprecatedSqlCalcFoundRows, &[]);
            self.deprecated(error.message);
        }
        let mut calls = Vec::new();
        for expr in item_exprs(&select.items) {
            ignoring(expr, &mut calls);
        }
        let of_name = |call: &&WindowCall, window: &str| match &call.over {
            Over::Name(name) => name.eq_ignore_ascii_case(window),
            Over::Spec(_) => false,
        };
        for (name, _) in select.windows.iter().filter(|(_, spec)| spec.frame.is_some()) {
            for call in calls.iter().filter(|call| of_name(call, name)) {
                self.ignored_frame(call, name);
            }
        }
        for call in &calls {
            if matches!(&call.over, Over::Spec(spec) if spec.frame.is_some()) {
                self.ignored_frame(call, "<unnamed window>");
            }
        }
    }

    fn ignored_frame(&mut self, call: &WindowCall, window: &str) {
        let names: [&dyn std::fmt::Display; 2] = [&call.func.name(), &window];
        let error = SqlError::new(ErrorCode::WindowFunctionIgnoresFrame, &names);
        self.frames.push(Warning::of(Level::Note, error));
    }

    fn deprecated(&mut self, text: String) {
        let error = SqlError::with_message(ErrorCode::WarnDeprecatedSyntax, text);
        self.written.push(Warning::of(Level::Warning, error));
    }
}

/// The calls in an expression whose functions look at whole partitions.
fn ignoring<'e>(expr: &'e Expr, calls: &mut Vec<&'e WindowCall>) {
    if let Expr::Window(call) = expr
        && !matches!(
            call.func,
            WindowFunc::FirstValue | WindowFunc::LastValue | WindowFunc::NthValue
        )
    {
        calls.push(call);
    }
    expr.for_each_child(&mut |child| ignoring(child, calls));
}
