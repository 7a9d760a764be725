package cmd_test

func beAClient() error { return nil }
func beStopped() error { return nil }
