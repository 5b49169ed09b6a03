"""Several views of the same people: what they say together, and what more views would mend.

Each view is fine alone; together they may expose somebody, and none can be called back. The adversary holds
a public register and every view, and believes each consistent table equally likely (Zhang 2010, chapter 6):
`views` says what is known, `prepare` takes it apart, `counting` counts the possible tables, `sampling` draws
them where they are too many, `gamma` decides, `restoring` looks for true views that bring every chance back.
"""
