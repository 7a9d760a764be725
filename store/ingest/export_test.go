package ingest

// Moment and Date read what the native format takes as a time and as a date.
var (
	Moment = moment
	Date   = date
)
