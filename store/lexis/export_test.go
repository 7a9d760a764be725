package lexis

const MaxTerm = maxTerm

// Terms returns the terms of a text in order, with repeats.
func Terms(text string) []string {
	tokens := tokenize(text)
	terms := make([]string, len(tokens))
	for i, t := range tokens {
		terms[i] = t.term
	}
	return terms
}

// Unpack returns packed postings as a list.
func Unpack(packed []byte) (postings []Posting, err error) {
	for p, err := range unpack(packed) {
		if err != nil {
			return nil, err
		}
		postings = append(postings, p)
	}
	return postings, nil
}
