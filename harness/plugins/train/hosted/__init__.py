"""Fine-tuning over an API: the training file, the job that a server makes of it, and the model that comes out.

recipe.py    the settings
rows.py      examples as lines of the file: written as the adapter will ask, and checked
terms.py     what a provider charges, and until when it takes jobs
plan.py      what would be sent, and for how much
protocol.py  the server's side: files, jobs, events
journal.py   the steps of a job, written down before they are taken
job.py       the file goes up, the job is made exactly once and followed to its end
model.py     the configuration of the model that comes out
make.py      all of it, step by step
"""
