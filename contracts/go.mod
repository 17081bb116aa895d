module wirelab/contracts

go 1.26.0
