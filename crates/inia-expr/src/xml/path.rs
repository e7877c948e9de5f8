//! XPath 1.0 as far as MySQL has it: text to tree.
//!
//! Steps, predicates, operators, and the functions of [`FUNCTIONS`]. An error is the text from the
//! token on that cannot stand where it does.

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Union,
}

impl Op {
    pub(crate) fn compares(self) -> bool {
        matches!(self, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Last,
    Not,
    Number,
    Position,
    Round,
    StringLength,
    Substring,
    Sum,
    True,
}

/// Name, fewest and most arguments.
const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("boolean", Function::Boolean, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("concat", Function::Concat, 2, 255),
    ("contains", Function::Contains, 2, 2),
    ("count", Function::Count, 1, 1),
    ("false", Function::False, 0, 0),
    ("floor", Function::Floor, 1, 1),
    ("last", Function::Last, 0, 0),
    ("not", Function::Not, 1, 1),
    ("number", Function::Number, 0, 1),
    ("position", Function::Position, 0, 0),
    ("round", Function::Round, 1, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("substring", Function::Substring, 2, 3),
    ("sum", Function::Sum, 1, 1),
    ("true", Function::True, 0, 0),
];

/// Where a step goes. MySQL takes the axes that it does not have for `child`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Itself,
}

const AXES: &[(&str, Axis)] = &[
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Child),
    ("following-sibling", Axis::Child),
    ("namespace", Axis::Child),
    ("parent", Axis::Parent),
    ("preceding", Axis::Child),
    ("preceding-sibling", Axis::Child),
    ("self", Axis::Itself),
];

/// Tests of a node's kind: they are passed over.
const NODE_TYPES: [&str; 4] = ["comment", "text", "processing-instruction", "node"];

#[derive(Debug, Clone)]
pub(crate) enum Expr {
    Int(i64),
    /// A number and its digits after the point.
    Real(f64, u8),
    Text(String),
    /// `$@name`.
    UserVar(String),
    Negate(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
    /// The document.
    Root,
    /// The node that a predicate is about; the document outside of predicates.
    Context,
    /// Nodes along an axis; no name is any.
    Step(Box<Expr>, Axis, Option<String>),
    /// Those nodes for which the second expression holds, or which stand at that place.
    Filter(Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Whether the value is a set of nodes.
    pub(crate) fn is_nodes(&self) -> bool {
        match self {
            Expr::Root | Expr::Context | Expr::Step(..) | Expr::Filter(..) => true,
            Expr::Binary(op, ..) => *op == Op::Union,
            _ => false,
        }
    }

    /// Whether the value is true or false.
    pub(crate) fn is_truth(&self) -> bool {
        use Function::{Boolean, Contains, False, Not, True};
        match self {
            Expr::Binary(op, ..) => op.compares() || matches!(op, Op::And | Op::Or),
            Expr::Call(function, _) => [Boolean, Contains, False, Not, True].contains(function),
            _ => false,
        }
    }
}

/// Why a text is no path, with the text from that place on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathError {
    Syntax(String),
    TwoNodeSets(String),
    UnknownVariable(String),
    TooDeep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lex {
    End,
    Ident,
    Digits,
    Str,
    Mark(u8),
    Slashes,
    NotEq,
    LessEq,
    GreaterEq,
    Dots,
    Unknown,
}

/// Steps and operators beyond it are refused: each is a level of the tree.
const MAX_PARTS: usize = 500;

/// Reads an expression.
pub(crate) fn parse(text: &str) -> Result<Expr, PathError> {
    let mut parser =
        Parser { text, lex: Lex::End, start: 0, end: 0, parts: 0, in_predicate: false };
    parser.bump();
    let expr = parser.or()?;
    if parser.lex == Lex::End { Ok(expr) } else { Err(parser.error()) }
}

struct Parser<'a> {
    text: &'a str,
    lex: Lex,
    start: usize,
    end: usize,
    parts: usize,
    in_predicate: bool,
}

type Parsed = Result<Expr, PathError>;

impl<'a> Parser<'a> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Where the next token begins.
    fn behind(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    fn word(&self) -> &'a str {
        &self.text[self.start..self.end]
    }

    fn bump(&mut self) {
        let start = self.behind(self.end);
        let rest = &self.text.as_bytes()[start..];
        let while_all = |part: fn(&u8) -> bool| rest.iter().take_while(|byte| part(byte)).count();
        let (byte, next) = (self.byte(start), self.byte(start + 1));
        let (lex, length) = match byte {
            _ if rest.is_empty() => (Lex::End, 0),
            b'/' if next == b'/' => (Lex::Slashes, 2),
            b'!' if next == b'=' => (Lex::NotEq, 2),
            b'<' if next == b'=' => (Lex::LessEq, 2),
            b'>' if next == b'=' => (Lex::GreaterEq, 2),
            b'.' if next == b'.' => (Lex::Dots, 2),
            b'(' | b')' | b'[' | b']' | b'/' | b'|' | b'+' | b'-' | b'*' | b'=' | b'<' | b'>'
            | b'.' | b',' | b'@' | b':' | b'$' => (Lex::Mark(byte), 1),
            b'0'..=b'9' => (Lex::Digits, while_all(u8::is_ascii_digit)),
            b'"' | b'\'' => match self.text[start + 1..].find(char::from(byte)) {
                Some(length) => (Lex::Str, length + 2),
                None => (Lex::Unknown, 1),
            },
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => (
                Lex::Ident,
                while_all(|byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | 0x80..)
                }),
            ),
            _ => (Lex::Unknown, 1),
        };
        (self.lex, self.start, self.end) = (lex, start, start + length);
    }

    fn error(&self) -> PathError {
        PathError::Syntax(self.text.get(self.start..).unwrap_or_default().to_owned())
    }

    fn take(&mut self, lex: Lex) -> bool {
        let found = self.lex == lex;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, mark: u8) -> Result<(), PathError> {
        if self.take(Lex::Mark(mark)) { Ok(()) } else { Err(self.error()) }
    }

    /// Counts a level of the tree.
    fn part(&mut self) -> Result<(), PathError> {
        self.parts += 1;
        if self.parts > MAX_PARTS { Err(PathError::TooDeep) } else { Ok(()) }
    }

    /// The binary operator that stands here, if it is one of a level's.
    fn operator(&self, level: &[Op]) -> Option<Op> {
        let op = match self.lex {
            Lex::Ident => match self.word() {
                "or" => Op::Or,
                "and" => Op::And,
                "div" => Op::Div,
                "mod" => Op::Mod,
                _ => return None,
            },
            Lex::Mark(b'=') => Op::Eq,
            Lex::NotEq => Op::Ne,
            Lex::Mark(b'<') => Op::Lt,
            Lex::LessEq => Op::Le,
            Lex::Mark(b'>') => Op::Gt,
            Lex::GreaterEq => Op::Ge,
            Lex::Mark(b'+') => Op::Add,
            Lex::Mark(b'-') => Op::Sub,
            Lex::Mark(b'*') => Op::Mul,
            Lex::Mark(b'|') => Op::Union,
            _ => return None,
        };
        level.contains(&op).then_some(op)
    }

    /// Operands of one level's operators, from the left.
    fn binary(&mut self, ops: &[Op], operand: fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = operand(self)?;
        while let Some(op) = self.operator(ops) {
            let place = self.start;
            self.bump();
            self.part()?;
            if op == Op::Union && !left.is_nodes() {
                return Err(self.error());
            }
            let right = operand(self)?;
            if op == Op::Union && !right.is_nodes() {
                return Err(self.error());
            }
            if op.compares() && left.is_nodes() && right.is_nodes() {
                return Err(PathError::TwoNodeSets(self.text[place..].to_owned()));
            }
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn or(&mut self) -> Parsed {
        // Each level inside parentheses or predicates takes much stack.
        self.parts += MAX_PARTS / 50;
        self.part()?;
        self.binary(&[Op::Or], Self::and)
    }

    fn and(&mut self) -> Parsed {
        self.binary(&[Op::And], Self::equality)
    }

    fn equality(&mut self) -> Parsed {
        self.binary(&[Op::Eq, Op::Ne], Self::relation)
    }

    fn relation(&mut self) -> Parsed {
        self.binary(&[Op::Lt, Op::Le, Op::Gt, Op::Ge], Self::sum)
    }

    fn sum(&mut self) -> Parsed {
        self.binary(&[Op::Add, Op::Sub], Self::product)
    }

    fn product(&mut self) -> Parsed {
        self.binary(&[Op::Mul, Op::Div, Op::Mod], Self::unary)
    }

    fn unary(&mut self) -> Parsed {
        let mut signs = 0;
        while self.take(Lex::Mark(b'-')) {
            signs += 1;
            self.part()?;
        }
        let expr = self.binary(&[Op::Union], Self::path)?;
        Ok((0..signs).fold(expr, |expr, _| Expr::Negate(Box::new(expr))))
    }

    /// A literal, a call or parentheses, with steps behind sets of nodes; or a path of steps.
    fn path(&mut self) -> Parsed {
        match self.primary()? {
            None => self.location(),
            Some(primary) if primary.is_nodes() => self.steps_behind(primary),
            Some(primary) => Ok(primary),
        }
    }

    /// What a path begins with unless that is a step.
    fn primary(&mut self) -> Result<Option<Expr>, PathError> {
        if self.lex == Lex::Mark(b'$') {
            let place = self.start;
            self.bump();
            let is_user = self.take(Lex::Mark(b'@'));
            if self.lex == Lex::Ident {
                let name = self.word().to_owned();
                if !is_user {
                    return Err(PathError::UnknownVariable(self.text[place..].to_owned()));
                }
                self.bump();
                return Ok(Some(Expr::UserVar(name)));
            }
        }
        match self.lex {
            Lex::Mark(b'(') => {
                self.bump();
                let inner = self.or()?;
                self.expect(b')')?;
                Ok(Some(inner))
            }
            Lex::Str => {
                let text = self.text[self.start + 1..self.end - 1].to_owned();
                self.bump();
                Ok(Some(Expr::Text(text)))
            }
            Lex::Digits => Ok(Some(self.number())),
            Lex::Ident if self.byte(self.behind(self.end)) == b'(' => self.call(),
            _ => Ok(None),
        }
    }

    fn number(&mut self) -> Expr {
        let (start, whole) = (self.start, self.word());
        self.bump();
        if !self.take(Lex::Mark(b'.')) {
            // MySQL has -1 for numbers beyond its own.
            return Expr::Int(whole.parse().unwrap_or(-1));
        }
        let (mut end, mut decimals) = (start + whole.len(), 0);
        if self.lex == Lex::Digits {
            (decimals, end) = (self.word().len().min(30) as u8, self.end);
            self.bump();
        }
        Expr::Real(self.text[start..end].parse().unwrap_or(0.0), decimals)
    }

    fn call(&mut self) -> Result<Option<Expr>, PathError> {
        use Function::{Count, Last, Number, Position, StringLength, Sum};
        let word = self.word();
        let Some((_, function, min, max)) = FUNCTIONS.iter().find(|row| row.0 == word) else {
            return Ok(None);
        };
        self.bump();
        self.expect(b'(')?;
        let mut args = Vec::new();
        while args.len() < *max {
            if self.lex == Lex::Mark(b')') && args.is_empty() && *min == 0 {
                break;
            }
            args.push(self.or()?);
            if !self.take(Lex::Mark(b',')) {
                break;
            }
        }
        if args.len() < *min {
            return Err(self.error());
        }
        self.expect(b')')?;
        let wants_nodes = matches!(function, Count | Sum) && !args[0].is_nodes();
        let of_context =
            args.is_empty() && matches!(function, Last | Position | Number | StringLength);
        if wants_nodes || of_context && !self.in_predicate {
            return Err(self.error());
        }
        Ok(Some(Expr::Call(*function, args)))
    }

    /// A path of steps, from the document or from the context.
    fn location(&mut self) -> Parsed {
        match self.lex {
            Lex::Mark(b'/') => {
                self.bump();
                let begins =
                    matches!(self.lex, Lex::Ident | Lex::Dots | Lex::Mark(b'.' | b'@' | b'*'));
                if !begins {
                    return Ok(Expr::Root);
                }
                let first = self.step(Expr::Root)?;
                self.steps_behind(first)
            }
            Lex::Slashes => self.steps_behind(Expr::Root),
            _ => {
                let first = self.step(Expr::Context)?;
                self.steps_behind(first)
            }
        }
    }

    fn steps_behind(&mut self, mut nodes: Expr) -> Parsed {
        loop {
            if self.take(Lex::Slashes) {
                nodes = Expr::Step(Box::new(nodes), Axis::DescendantOrSelf, None);
            } else if !self.take(Lex::Mark(b'/')) {
                return Ok(nodes);
            }
            nodes = self.step(nodes)?;
        }
    }

    fn step(&mut self, from: Expr) -> Parsed {
        self.part()?;
        if self.take(Lex::Mark(b'.')) {
            return Ok(from);
        }
        if self.take(Lex::Dots) {
            return Ok(Expr::Step(Box::new(from), Axis::Parent, None));
        }
        let mut axis = Axis::Child;
        if self.take(Lex::Mark(b'@')) {
            axis = Axis::Attribute;
        } else if self.lex == Lex::Ident && self.text[self.behind(self.end)..].starts_with("::") {
            let word = self.word();
            if let Some((_, found)) = AXES.iter().find(|row| row.0 == word) {
                axis = *found;
                self.bump();
                self.bump();
                self.bump();
            }
        }
        let mut nodes = self.node_test(from, axis)?;
        while self.take(Lex::Mark(b'[')) {
            let outer = std::mem::replace(&mut self.in_predicate, true);
            let condition = self.or()?;
            self.in_predicate = outer;
            self.expect(b']')?;
            nodes = Expr::Filter(Box::new(nodes), Box::new(condition));
        }
        Ok(nodes)
    }

    fn node_test(&mut self, from: Expr, axis: Axis) -> Parsed {
        if self.take(Lex::Mark(b'*')) {
            return Ok(Expr::Step(Box::new(from), axis, None));
        }
        if self.lex != Lex::Ident {
            return Err(self.error());
        }
        let calls = self.byte(self.behind(self.end)) == b'(';
        if calls && NODE_TYPES.contains(&self.word()) {
            self.bump();
            self.bump();
            self.expect(b')')?;
            return Ok(from);
        }
        if calls && FUNCTIONS.iter().any(|row| row.0 == self.word()) {
            return Err(self.error());
        }
        let mut name = self.word().to_owned();
        self.bump();
        if self.take(Lex::Mark(b':')) {
            if self.lex != Lex::Ident {
                return Err(self.error());
            }
            name = format!("{name}:{}", self.word());
            self.bump();
        }
        Ok(Expr::Step(Box::new(from), axis, Some(name)))
    }
}
