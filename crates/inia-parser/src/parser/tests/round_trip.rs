//! The canonical text of an expression reads back as the same expression.
//!
//! A random expression is printed; the printed text is parsed (giving the canonical tree, in
//! which truth values are explicit and functions have their final names); printing and parsing
//! that tree must change nothing any more.
//!
//! What holds an expression together must not depend on how tightly its operators bind: printed
//! with parentheses around every expression it must read back as the same tree. Queries are tested
//! that way with subqueries, whose tests have no parentheses of their own.

use super::*;
use crate::ast::{Query, QueryBody, Select, SelectItem};
use crate::{unparse_query, unparse_query_explicit};
use inia_base::temporal::IntervalUnit;

/// A small deterministic generator of numbers.
struct Random {
    state: u64,
    /// Expressions have subqueries in them.
    queries: bool,
}

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    fn boxed(&mut self, depth: u32) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    fn exprs(&mut self, depth: u32, min: usize) -> Vec<Expr> {
        (0..min + self.below(3)).map(|_| self.expr(depth)).collect()
    }

    fn leaf(&mut self) -> Expr {
        match self.below(10) {
            0 => Expr::int(self.below(1000) as u64),
            1 => Expr::string(["", "a'b", "\\", "é\n", "x\"y"][self.below(5)]),
            2 => Expr::Literal(Literal::Decimal("12.50".to_string())),
            3 => Expr::Literal(Literal::Float(1.5e10)),
            4 => Expr::Literal(Literal::Hex { charset: None, bytes: vec![1, 0xab] }),
            5 => Expr::null(),
            6 => Expr::Literal(Literal::Bool(self.flag())),
            7 => Expr::Literal(Literal::Date("2020-01-01".to_string())),
            8 => Expr::UserVar("v`w".to_string()),
            _ => Expr::column(["a", "b c", "select", "d`e"][self.below(4)]),
        }
    }

    fn expr(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        let negated = self.flag();
        if self.queries && self.below(3) == 0 {
            return self.of_query(depth);
        }
        match self.below(22) {
            0..=4 => {
                use BinaryOp::*;
                let ops = [
                    Add, Sub, Mul, Div, IntDiv, Mod, BitOr, BitAnd, BitXor, ShiftLeft, ShiftRight,
                    Eq, NullSafeEq, Ne, Lt, Le, Gt, Ge, Xor,
                ];
                let op = ops[self.below(ops.len())];
                Expr::Binary { op, left: self.boxed(depth), right: self.boxed(depth) }
            }
            5 => Expr::And(self.exprs(depth, 2)),
            6 => Expr::Or(self.exprs(depth, 2)),
            7 => {
                use UnaryOp::*;
                let op = [Not, Neg, Plus, BitNot, Binary][self.below(5)];
                Expr::Unary { op, expr: self.boxed(depth) }
            }
            8 => Expr::IsNull { expr: self.boxed(depth), negated },
            9 => {
                let truth = [Truth::True, Truth::False, Truth::Unknown][self.below(3)];
                Expr::IsTruth { expr: self.boxed(depth), truth, negated }
            }
            10 => Expr::InList { expr: self.boxed(depth), list: self.exprs(depth, 1), negated },
            11 => Expr::Between {
                expr: self.boxed(depth),
                low: self.boxed(depth),
                high: self.boxed(depth),
                negated,
            },
            12 => Expr::Like {
                expr: self.boxed(depth),
                pattern: self.boxed(depth),
                escape: if self.flag() { Some(self.boxed(0)) } else { None },
                negated,
            },
            13 => Expr::Regexp { expr: self.boxed(depth), pattern: self.boxed(depth), negated },
            _ => self.rare(depth),
        }
    }

    fn of_query(&mut self, depth: u32) -> Expr {
        let item = SelectItem::Expr {
            expr: self.leaf(),
            alias: Some("x".to_string()),
            text: String::new(),
        };
        let select = Select { items: vec![item], ..Select::default() };
        let query = Box::new(Query::new(QueryBody::Select(Box::new(select))));
        let negated = self.flag();
        match self.below(6) {
            0 => Expr::Subquery(query),
            1 => Expr::Exists(query),
            2 => Expr::Unary { op: UnaryOp::Not, expr: Box::new(Expr::Exists(query)) },
            3 => {
                use BinaryOp::*;
                let op = [Eq, Ne, Lt, Le, Gt, Ge][self.below(6)];
                let quantifier = [Quantifier::Any, Quantifier::All][self.below(2)];
                Expr::Quantified { left: self.boxed(depth), op, quantifier, query }
            }
            4 => Expr::MemberOf { expr: self.boxed(depth), array: self.boxed(depth) },
            _ => Expr::InSubquery { expr: self.boxed(depth), query, negated },
        }
    }

    fn rare(&mut self, depth: u32) -> Expr {
        let name = ["upper", "lcase", "date", "round", "concat", "my func"][self.below(6)];
        match self.below(9) {
            0 => Expr::Case {
                operand: if self.flag() { Some(self.boxed(depth)) } else { None },
                whens: vec![(self.expr(depth), self.expr(depth))],
                else_: if self.flag() { Some(self.boxed(depth)) } else { None },
            },
            1 => {
                let types = [
                    CastType::Signed,
                    CastType::Char { length: Some(3), charset: None },
                    CastType::Binary(None),
                    CastType::Decimal { precision: None, scale: None },
                    CastType::DateTime(Some(3)),
                ];
                let ty = types[self.below(types.len())].clone();
                Expr::Cast { expr: self.boxed(depth), ty, array: false }
            }
            2 => Expr::Trim {
                side: [TrimSide::Both, TrimSide::Leading, TrimSide::Trailing][self.below(3)],
                what: if self.flag() { Some(self.boxed(depth)) } else { None },
                expr: self.boxed(depth),
            },
            3 => Expr::DateArith {
                expr: self.boxed(depth),
                interval: self.boxed(depth),
                unit: [IntervalUnit::Day, IntervalUnit::YearMonth][self.below(2)],
                subtract: self.flag(),
            },
            4 => Expr::Extract { unit: IntervalUnit::Hour, expr: self.boxed(depth) },
            5 => Expr::Collate { expr: self.boxed(depth), collation: "utf8mb4_bin".to_string() },
            6 => Expr::JsonExtract {
                column: ColumnName::bare("j"),
                path: "$.a".to_string(),
                unquote: self.flag(),
            },
            7 => Expr::Char { args: self.exprs(depth, 1), charset: None },
            _ => Expr::Function(FunctionCall::native(name, self.exprs(depth, 1))),
        }
    }
}

fn read(text: &str) -> Expr {
    parse_expr(text, SqlMode::empty()).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

#[test]
fn canonical_texts_are_stable() {
    let mut random = Random { state: 42, queries: false };
    for round in 0..5_000 {
        let expr = random.expr(1 + round % 4);
        let canonical = read(&unparse(&expr, "utf8mb4").expect("a storable expression"));
        let text = unparse(&canonical, "utf8mb4").expect("a storable expression");
        assert_eq!(read(&text), canonical, "{text}");
        assert_eq!(unparse(&read(&text), "utf8mb4").as_deref(), Some(text.as_str()));
    }
}

/// A query with the expression as its select item and its condition.
fn around(expr: Expr) -> Query {
    let (alias, text) = (Some("x".to_string()), String::new());
    let items = vec![SelectItem::Expr { expr: expr.clone(), alias, text }];
    let where_ = Some(expr);
    Query::new(QueryBody::Select(Box::new(Select { items, where_, ..Select::default() })))
}

#[test]
fn parentheses_are_where_they_are_needed() {
    for queries in [false, true] {
        let mut random = Random { state: 7, queries };
        for round in 0..5_000 {
            let query = around(random.expr(1 + round % 4));
            let text = unparse_query(&query, false).expect("a query of a view");
            let explicit = unparse_query_explicit(&query).expect("a query of a view");
            let (short, long) = (super::query(&text), super::query(&explicit));
            assert_eq!(
                unparse_query_explicit(&short),
                unparse_query_explicit(&long),
                "{text}\n{explicit}"
            );
            assert_eq!(unparse_query(&long, false), unparse_query(&short, false));
        }
    }
}
