package store

import "errors"

// Names of settings.
const (
	SettingDemo   = "demo"        // when the demo shop was seeded, in a demo database
	SettingPolicy = "policy"      // the shop's policy file
	SettingKey    = "key"         // the name of the installation's key
	SettingSalt   = "erased_salt" // what the names of the erased are hashed with, once there is one
)

// Setting returns the value of name, "" where it isn't set.
func (v *View) Setting(name string) (value string, err error) {
	err = v.row("select value from settings where name = ?", []any{name}, &value)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return value, err
}

// IsDemo reports whether this is a demo database.
func (v *View) IsDemo() (bool, error) {
	seeded, err := v.Setting(SettingDemo)
	return seeded != "", err
}

// SetSetting stores value under name.
func (tx *Tx) SetSetting(name, value string) error {
	return tx.execOne(`insert into settings (name, value) values (?, ?)
		on conflict (name) do update set value = excluded.value`, name, value)
}
