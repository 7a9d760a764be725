package store

import (
	"database/sql"
	"encoding/json"
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
	switch {
	case errors.Is(err, ErrNotFound):
		change, err = Added, tx.insertArticle(&a, source)
	case err == nil:
		change, err = Changed, tx.updateArticle(a, source)
	}
	if err == nil {
		err = tx.index(a)
	}
	if err != nil {
		return "", fmt.Errorf("article %s: %w", a.ID, err)
	}
	return change, nil
}

// insertArticle fills in a.Number.
func (tx *Tx) insertArticle(a *Article, source string) error {
	return tx.row(`insert into articles (id, title, body, category, written_by, visibility, outdated, updated_at, source)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning number`,
		[]any{a.ID, a.Title, a.Body, a.Category, a.WrittenBy, a.visibility(), a.Outdated, stamp(a.Updated), source}, &a.Number)
}

func (tx *Tx) updateArticle(a Article, source string) error {
	return tx.execOne(`update articles set title = ?, body = ?, category = ?, written_by = ?, visibility = ?, outdated = ?,
		updated_at = ?, source = ? where number = ?`,
		a.Title, a.Body, a.Category, a.WrittenBy, a.visibility(), a.Outdated, stamp(a.Updated), source, a.Number)
}

func (a Article) visibility() string {
	if a.Internal {
		return "internal"
	}
	return "public"
}

// articlesPerBlock is how many article numbers share a row for each term: more
// of them make searches faster and imports slower.
const articlesPerBlock = 128

// index makes the search find an article by what it says now and by nothing
// that it said before, and an internal one not at all.
func (tx *Tx) index(a Article) error {
	before := "[]"
	err := tx.row("delete from article_index where article = ? returning terms", []any{a.Number}, &before)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	now, packed := []string{}, map[string][]byte{}
	if !a.Internal {
		counts, length := lexis.Count(a.Title, a.Body)
		for _, c := range counts {
			now = append(now, c.Term)
			packed[c.Term] = lexis.AppendPosting(nil, lexis.Posting{
				Article: a.Number, Title: c.Title, Body: c.Body, Length: length, Outdated: a.Outdated,
			})
		}
		err := tx.execOne("insert into article_index (article, title_words, body_words, terms) values (?, ?, ?, ?)",
			a.Number, length.Title, length.Body, list(now))
		if err != nil {
			return err
		}
	}
	block := a.Number / articlesPerBlock
	err = tx.rows(`select term, postings from article_terms where block = ? and term in
		(select value from json_each(?) union select value from json_each(?))`, []any{block, before, list(now)},
		func(rows scanner) error {
			var term string
			var postings sql.RawBytes
			err := rows.Scan(&term, &postings)
			if err == nil {
				packed[term], err = lexis.AppendWithout(packed[term], postings, a.Number)
			}
			return err
		})
	if err != nil {
		return err
	}
	for term, postings := range packed {
		if err := tx.putPostings(block, term, postings); err != nil {
			return err
		}
	}
	return nil
}

// putPostings replaces what a block has of a term.
func (tx *Tx) putPostings(block int64, term string, postings []byte) error {
	if len(postings) == 0 {
		return tx.execOne("delete from article_terms where block = ? and term = ?", block, term)
	}
	return tx.execOne(`insert into article_terms (block, term, postings) values (?, ?, ?)
		on conflict (block, term) do update set postings = excluded.postings`, block, term, postings)
}

// list is terms as SQL takes a list.
func list(terms []string) string {
	text, err := json.Marshal(terms)
	if err != nil {
		panic(err) // no list of strings is beyond JSON
	}
	return string(text)
}
