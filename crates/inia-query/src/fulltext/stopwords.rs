//! Words that are not searched for.

/// Those of `INFORMATION_SCHEMA.INNODB_FT_DEFAULT_STOPWORD`.
pub(crate) const DEFAULT_STOPWORDS: [&str; 36] = [
    "a", "about", "an", "are", "as", "at", "be", "by", "com", "de", "en", "for", "from", "how",
    "i", "in", "is", "it", "la", "of", "on", "or", "that", "the", "this", "to", "was", "what",
    "when", "where", "who", "will", "with", "und", "the", "www",
];
