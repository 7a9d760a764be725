package store

import (
	"errors"
	"fmt"

	"countersign/store/lexis"
)

// PutArticle stores an article as the shop's data has it, by its ID, and indexes
// it for the search. a.Number is ignored. Source is the digest of the text it
// comes from.
func (tx *Tx) PutArticle(a Article, source string) (change Change, err error) {
	var last string
	err = tx.row("select number, source from articles where id = ?", []any{a.ID}, &a.Number, &last)
	if err == nil && last == source {
		return Unchanged, nil
	}
	counts, words := lexis.Count(a.Title, a.Body)
	switch {
	case errors.Is(err, ErrNotFound):
		change, err = Added, tx.insertArticle(&a, words, source)
	case err == nil:
		change, err = Changed, tx.updateArticle(a, words, source)
	}
	if err != nil {
		return "", fmt.Errorf("article %s: %w", a.ID, err)
	}
	return change, tx.index(a, counts)
}

// insertArticle fills in a.Number.
func (tx *Tx) insertArticle(a *Article, words lexis.Length, source string) error {
	return tx.row(`insert into articles (id, title, body, category, written_by, visibility, outdated, updated_at,
		title_words, body_words, source) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning number`,
		[]any{a.ID, a.Title, a.Body, a.Category, a.WrittenBy, a.visibility(), a.Outdated, stamp(a.Updated),
			words.Title, words.Body, source}, &a.Number)
}

func (tx *Tx) updateArticle(a Article, words lexis.Length, source string) error {
	return tx.execOne(`update articles set title = ?, body = ?, category = ?, written_by = ?, visibility = ?, outdated = ?,
		updated_at = ?, title_words = ?, body_words = ?, source = ? where number = ?`,
		a.Title, a.Body, a.Category, a.WrittenBy, a.visibility(), a.Outdated, stamp(a.Updated),
		words.Title, words.Body, source, a.Number)
}

func (a Article) visibility() string {
	if a.Internal {
		return "internal"
	}
	return "public"
}
